/** Resolves in a task after the next frame is made; a page that is hidden has none. */
export function frameShown() {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
  });
}
