import { element } from "../../dom/js/element.ts";

/** A button that opens a list; Esc and a click elsewhere close it. */
export function menu(testid: string, label: string, ...children: Node[]) {
  const summary = element("summary", {}, label);
  const node = element(
    "details",
    { testid },
    summary,
    element("div", { class: "menu" }, ...children),
  );
  node.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    node.open = false;
    summary.focus();
  });
  node.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !node.contains(relatedTarget)) node.open = false;
  });
  const leave = ({ target }: Event) => {
    if (target instanceof Node && !node.contains(target)) node.open = false;
  };
  node.addEventListener("toggle", () => {
    if (node.open) document.addEventListener("pointerdown", leave, true);
    else document.removeEventListener("pointerdown", leave, true);
  });
  return node;
}
