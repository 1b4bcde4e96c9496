/**
 * Close the menu of a narrow window after a choice: it covers the page that was chosen.
 */
document.addEventListener("click", ({ target }) => {
  if (!(target instanceof Element) || !target.closest('[data-testid="stSidebarNavLink"]')) return;
  const close = document.querySelector('[data-testid="stSidebarCollapseButton"] button');
  if (close instanceof HTMLElement) close.click();
});
