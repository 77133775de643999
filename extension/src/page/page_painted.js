/**
 * Runs in the page. Resolves once a frame has been painted after the tab came to the front, or
 * after `patienceMs`, because a minimised window paints none.
 * Answers how wide the window is and where the page is in it.
 */
export async function pagePainted(patienceMs) {
  await new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(resolve));
    setTimeout(resolve, patienceMs);
  });
  return { url: location.href, data: { viewWidth: innerWidth, x: scrollX, y: scrollY } };
}
