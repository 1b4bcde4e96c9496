"""What to look for in a page on any screen: clipped names, overlapping parts."""

import time
from pathlib import Path

from playwright.sync_api import Page

SIZES = [(1440, 900), (1440, 770), (1366, 630), (1024, 768), (390, 844)]


def settle(tab: Page) -> None:
    """Let the frame with the latest change be painted."""
    tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")


def wait_until(tab: Page, true: str) -> None:
    """`Page.wait_for_function` needs `eval`, which the pages forbid."""
    deadline = time.monotonic() + 60
    while not tab.evaluate(true):
        assert time.monotonic() < deadline, true
        tab.wait_for_timeout(20)


# Buttons of the player that a finger may miss.
SMALL_BUTTONS = """[...document.querySelectorAll('.player button')]
    .filter((node) => node.checkVisibility())
    .filter((node) => Math.min(node.offsetWidth, node.offsetHeight) < 40)
    .map((node) => node.outerHTML.slice(0, 120))"""

CLIPPED = """() => {
  const names = "button:not(.thumbnail), .map-title, .integrity li, .hint, .strip-label, " +
    ".axis-title, .reason-key, .count";
  return [...document.querySelectorAll(names)].filter((node) => node.offsetParent &&
    (node.scrollWidth > node.clientWidth + 2 ||
      node.getBoundingClientRect().right > innerWidth + 1)).map((node) => node.outerHTML);
}"""

OVERLAPPING = """() => {
  const faults = [];
  for (const group of [".query-label", ".key-label:not(.rotated)", ".transport > *", ".foot > *",
    ".strips > *, .transport, .main, .foot", ".legend > *", ".map-heading > *", ".marks span"]) {
    const boxes = [...document.querySelectorAll(group)].map((node) => node.getBoundingClientRect())
      .filter((box) => box.width && box.height);
    boxes.forEach((one, at) => boxes.slice(at + 1).forEach((other) => {
      const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (across > 1.5 && down > 3.5) faults.push([group, across, down]);
    }));
  }
  return faults;
}"""

TEXT_FAULTS = Path(__file__).with_name("text_faults.js").read_text("utf-8")
