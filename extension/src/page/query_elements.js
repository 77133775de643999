/* global callslipElements, callslipPdfViewer */
/** Runs in the page. Returns the number of matching elements, and describes the first of them. */
export function queryElements({ selector = null, text = null }, limits) {
  const url = location.href;
  const error = callslipPdfViewer.refusal();
  if (error) return { url, error };
  const { describe, isSelector, matching, wrongSelector } = callslipElements;
  if (selector !== null && !isSelector(selector)) return wrongSelector();
  const found = matching(selector, text);
  const elements = found.slice(0, limits.elements).map((element) => describe(element, limits));
  return { url, data: { count: found.length, elements } };
}
