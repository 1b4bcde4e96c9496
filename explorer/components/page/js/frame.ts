/**
 * Resolves once the next frame is on screen, while the one after it is made; a page that is hidden
 * has none.
 */
export function frameShown() {
  return new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(resolve));
  });
}
