/** Marks of the document that style sheets read, inside a shadow root too. */

const MARKS = [
  "data-everything",
  "data-projector",
  "data-guess",
  "data-lesson",
  "data-header-full",
];

/** Give `root` the marks that the document has, as long as it is there. */
export function mirrorMarks(root: HTMLElement, signal: AbortSignal) {
  const page = document.documentElement;
  const mirror = () => {
    for (const mark of MARKS) root.toggleAttribute(mark, page.hasAttribute(mark));
  };
  const observer = new MutationObserver(mirror);
  observer.observe(page, { attributeFilter: MARKS });
  signal.addEventListener("abort", () => observer.disconnect());
  mirror();
}
