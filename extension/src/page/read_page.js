/** Runs in the page. `innerText` is what a reader sees; a page without a body has only its root. */
export function readPage(limitChars) {
  const url = location.href;
  const text = document.body?.innerText ?? document.documentElement?.textContent ?? '';
  const data = { title: document.title, url, text: text.slice(0, limitChars) };
  if (text.length > limitChars) data.truncated = true;
  return { url, data };
}
