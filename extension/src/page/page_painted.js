/**
 * Runs in the page. Resolves once a frame has been painted after the tab came to the front, or
 * after `patienceMs`, because a minimised window paints none.
 */
export async function pagePainted(patienceMs) {
  await new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(resolve));
    setTimeout(resolve, patienceMs);
  });
  return { url: location.href };
}
