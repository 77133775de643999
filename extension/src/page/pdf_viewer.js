/**
 * Detects documents that the browser shows in its own PDF viewer. It is not a module: the browser runs it
 * in the extension's own world of a page.
 */
globalThis.callslipPdfViewer = {
  /**
   * The error for reading or acting there; undefined in other documents. The viewer itself is out of reach.
   */
  refusal() {
    if (!['application/pdf', 'text/pdf'].includes(document.contentType)) return undefined;
    return {
      code: 'pdf_viewer',
      message: 'The tab shows a PDF in the viewer of the browser: no extension reaches its text and its controls.',
      hint: 'A screenshot shows what is in view; execute_js with fetch(location.href) gets the file itself.',
      mayHaveExecuted: false,
    };
  },
};
