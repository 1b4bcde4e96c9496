const NAME = "data-projector";

/** Whether the visitor has chosen the larger type, on this page or on one opened before it. */
export function projectorChosen() {
  if (typeof document === "undefined") return false;
  return document.documentElement.hasAttribute(NAME) || stored() !== null;
}

/**
 * Show `root` in larger type or not, and with it the whole page, whose style sheet reads the
 * attribute, and the pages opened after it.
 * @param {HTMLElement} root
 * @param {boolean} chosen
 */
export function showProjector(root, chosen) {
  root.classList.toggle("projector", chosen);
  document.documentElement.toggleAttribute(NAME, chosen);
  try {
    if (chosen) sessionStorage.setItem(NAME, "");
    else sessionStorage.removeItem(NAME);
  } catch {
    // A page in a frame may have no storage.
  }
}

/** What the pages opened before stored; null for nothing. */
function stored() {
  try {
    return sessionStorage.getItem(NAME);
  } catch {
    return null;
  }
}
