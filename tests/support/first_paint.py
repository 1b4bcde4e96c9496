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
  const wordsOf = (parts) =>
    parts.map(shownText).join(" ").split(/\\s+/).filter((word) => /[\\p{L}\\p{N}]/u.test(word));
  const labels =
    ".token, .chip, .output-text, .axis-label, .head-name, .layer-name, .weights, .marks";
  const isLabel = (part) => part.closest(labels) || part.matches("[data-testid=stIconMaterial]");
  const shown = parts.filter(seen);
  const controls = shown.filter((part) => part.matches(control.join()));
  const groups = new Set(); // of radios, of which Tab stops at one
  const stops = controls.filter((part) => {
    if (part.tabIndex < 0 || part.disabled) return false;
    const group = part.closest("[role=radiogroup]");
    const first = group === null || !groups.has(group);
    groups.add(group);
    return first;
  });
  return {
    controls: controls.map(nameOf),
    stops: stops.map(nameOf),
    words: wordsOf(shown),
    prose: wordsOf(shown.filter((part) => !isLabel(part))),
  };
}"""


@dataclass(frozen=True, slots=True)
class FirstPaint:
    """controls: test id and name of everything in the window that can be pressed, chosen, dragged
    or typed into, also where it is disabled.
    stops: those at which the Tab key stops; one of a group of radios.
    words: whatever is separated by spaces and has a letter or a digit: tokens, numbers and labels
        of pictures count, too.
    prose: the words without tokens and the labels of pictures.
    """

    controls: tuple[str, ...]
    stops: tuple[str, ...]
    words: tuple[str, ...]
    prose: tuple[str, ...]


def first_paint(tab: Page) -> FirstPaint:
    """Count what is in the window now, without scrolling."""
    found = tab.evaluate(_COUNT)
    return FirstPaint(*(tuple(found[name]) for name in ("controls", "stops", "words", "prose")))
