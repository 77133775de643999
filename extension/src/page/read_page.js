/* global callslipCutText, callslipPdfViewer */
/**
 * Runs in the page, after cut_text.js and pdf_viewer.js. `innerText` is the visible text; a document
 * without a body has only its root.
 */
export function readPage(limitChars) {
  const url = location.href;
  const error = callslipPdfViewer.refusal();
  if (error) return { url, error };
  const text = document.body?.innerText ?? document.documentElement?.textContent ?? '';
  const data = { title: document.title, url, text: callslipCutText(text, limitChars) };
  if (text.length > limitChars) data.truncated = true;
  return { url, data };
}
