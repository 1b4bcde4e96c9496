import { assign } from "./element.ts";

const LINE_EDGE = 6; // px of the padding of a strip and the space between its lines

/**
 * Show on `label` where `box`, which scrolls, has more lines than it shows; the function returned
 * looks again, after other contents.
 */
export function markedWhereMore(label: HTMLElement, box: HTMLElement, hint: string) {
  const mark = () => {
    const more = moreOf(box);
    assign(label, "data-more", more);
    assign(label, "title", more && hint);
  };
  box.addEventListener("scroll", mark, { passive: true });
  return mark;
}

/** Where a box has more lines than it shows, as arrows; null where it shows all. */
function moreOf({ scrollTop, scrollHeight, clientHeight }: HTMLElement) {
  const above = scrollTop > LINE_EDGE ? "▲" : "";
  const below = scrollHeight - clientHeight - scrollTop > LINE_EDGE ? "▼" : "";
  return above + below || null;
}
