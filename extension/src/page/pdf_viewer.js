/**
 * Tells documents that the browser shows in its own viewer for PDFs. It is no module: the browser runs
 * it in the extension's own world of a page.
 */
globalThis.callslipPdfViewer = {
  /** The error of what would read or act there; undefined elsewhere. The viewer itself is out of reach. */
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
