/**
 * Runs in the page. Resolves once a frame has been painted after the tab came to the front, or after
 * `patienceMs`, because a minimized window paints none. Returns the width of the window and the scroll
 * position.
 */
export async function pagePainted(patienceMs) {
  await new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(resolve));
    setTimeout(resolve, patienceMs);
  });
  return { url: location.href, data: { viewWidth: innerWidth, x: scrollX, y: scrollY } };
}
