import { assign } from "./element.ts";
import { measured, type View } from "./store.ts";

const LINE_EDGE = 6; // px of the padding of a strip and the space between its lines

/** Show on `label` where `box`, which scrolls, has more lines than it shows. */
export function markedWhereMore(label: HTMLElement, box: HTMLElement, hint: string): View {
  const show = (more: string | null) => {
    assign(label, "data-more", more);
    assign(label, "title", more && hint);
  };
  box.addEventListener("scroll", () => show(moreOf(box)), { passive: true });
  const more = measured(() => moreOf(box));
  return () => show(more());
}

/** Where a box has more lines than it shows, as arrows; null where it shows all. */
function moreOf({ scrollTop, scrollHeight, clientHeight }: HTMLElement) {
  const above = scrollTop > LINE_EDGE ? "▲" : "";
  const below = scrollHeight - clientHeight - scrollTop > LINE_EDGE ? "▼" : "";
  return above + below || null;
}
