"""What a person meets on a page before pressing anything: its controls and its words."""

from dataclasses import dataclass

from playwright.sync_api import Page

_COUNT = """() => {
  const parts = [];
  const visit = (root) => {
    for (const part of root.querySelectorAll("*")) {
      parts.push(part);
      if (part.shadowRoot) visit(part.shadowRoot);
    }
  };
  visit(document);
  const onScreen = ({ left, top, right, bottom, width, height }) =>
    width > 1 && height > 1 && right > 0 && bottom > 0 && left < innerWidth && top < innerHeight;
  const seen = (part) =>
    part.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
    onScreen(part.getBoundingClientRect());
  const pressed = "a[href], button, input, select, textarea, summary, [contenteditable=true]";
  const named = ["button", "checkbox", "combobox", "link", "menuitem", "radio", "slider", "switch"];
  const control = [pressed, ...[...named, "tab", "textbox"].map((name) => `[role=${name}]`)];
  const nameOf = (part) =>
    part.dataset.testid + ": " + (part.getAttribute("aria-label") ?? part.textContent).trim();
  const shownText = (part) => {
    if (part.matches("style, script, noscript, option")) return "";
    if (part.matches("select")) return part.selectedOptions[0]?.textContent ?? "";
    if (part.matches("input, textarea")) {
      return part.matches("[type=checkbox], [type=range]") ? "" : part.value || part.placeholder;
    }
    const texts = [...part.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE);
    const range = document.createRange();
    return texts
      .filter((text) => {
        range.selectNode(text);
        return [...range.getClientRects()].some(onScreen);
      })
      .map(({ data }) => data)
      .join(" ");
  };
  const shown = parts.filter(seen);
  const texts = shown.map(shownText).join(" ");
  return {
    controls: shown.filter((part) => part.matches(control.join())).map(nameOf),
    words: texts.split(/\\s+/).filter((word) => /[\\p{L}\\p{N}]/u.test(word)),
  };
}"""


@dataclass(frozen=True, slots=True)
class FirstPaint:
    """controls: test id and name of everything in the window that can be pressed, chosen, dragged
    or typed into, also where it is disabled.
    words: whatever is separated by spaces and has a letter or a digit: tokens, numbers and labels
        of pictures count, too.
    """

    controls: tuple[str, ...]
    words: tuple[str, ...]


def first_paint(tab: Page) -> FirstPaint:
    """Count what is in the window now, without scrolling."""
    found = tab.evaluate(_COUNT)
    return FirstPaint(tuple(found["controls"]), tuple(found["words"]))
