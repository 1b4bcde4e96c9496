import { assign } from "./element.js";

const LINE_EDGE = 6; // px of the padding of a strip and the space between its lines

/**
 * Show on `label` where `box`, which scrolls, has more lines than it shows; the function returned
 * looks again, after other contents.
 * @param {HTMLElement} label
 * @param {HTMLElement} box
 * @param {string} hint
 */
export function markedWhereMore(label, box, hint) {
  const mark = () => {
    const more = moreOf(box);
    assign(label, "data-more", more);
    assign(label, "title", more && hint);
  };
  box.addEventListener("scroll", mark, { passive: true });
  return mark;
}

/**
 * Where a box has more lines than it shows, as arrows; null where it shows all.
 * @param {HTMLElement} box
 */
function moreOf({ scrollTop, scrollHeight, clientHeight }) {
  const above = scrollTop > LINE_EDGE ? "▲" : "";
  const below = scrollHeight - clientHeight - scrollTop > LINE_EDGE ? "▼" : "";
  return above + below || null;
}
