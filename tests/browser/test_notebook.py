"""Pages as notebooks make them, with the outputs of several cells."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from explorer.components.html_export import html_page
from explorer.components.notebook import _frame
from tests.support.example_traces import example_trace


def page_of(*frames: str) -> str:
    return "<!doctype html><title>Notebook</title>" + "".join(frames)


def test_outputs_in_one_page_share_one_copy_of_plotly(
    new_tab: Callable[..., Page], tmp_path: Path
) -> None:
    """Also when the output that brings it comes later in the page than one that needs it."""
    bringing = _frame(html_page(example_trace()), 700)
    needing = _frame(html_page(example_trace(), with_plotly=False), 700)
    path = tmp_path / "notebook.html"
    path.write_text(page_of(needing, bringing, needing), encoding="utf-8")
    tab = new_tab(offline=True)
    tab.goto(path.as_uri())
    for frame in range(3):
        expect(tab.frame_locator("iframe").nth(frame).locator(".plotted")).to_be_visible()


def test_isolated_outputs_work_with_a_copy_each(
    new_tab: Callable[..., Page], tmp_path: Path
) -> None:
    """As in VS Code: each frame has an origin of its own and cannot see the page around it."""
    frame = _frame(html_page(example_trace()), 700)
    isolated = frame.replace("<iframe ", '<iframe sandbox="allow-scripts" ', 1)
    path = tmp_path / "notebook.html"
    path.write_text(page_of(isolated, isolated), encoding="utf-8")
    tab = new_tab(offline=True)
    tab.goto(path.as_uri())
    for number in range(2):
        expect(tab.frame_locator("iframe").nth(number).locator(".plotted")).to_be_visible()
