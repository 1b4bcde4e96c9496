"""Guests of a class train in their browsers and share their curves, which the host sees."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from explorer.core.i18n import say
from tests.support.app_server import hosted_app
from tests.support.static_site_page import forget_browsers_own

SOON = 120_000  # ms, on a busy machine
ROOM_ABOVE_LEGEND = """chart => new Promise((done) => {
    const look = () => {
        const drawn = chart.querySelector(".main-svg").width.baseVal.value;
        if (drawn !== chart.clientWidth) return requestAnimationFrame(look);
        const box = (name) => chart.querySelector(name).getBoundingClientRect();
        done(box(".legend").top - box(".nsewdrag").bottom);
    };
    look();
})"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The running app in class mode."""
    with hosted_app(tmp_path_factory.mktemp("runs")) as address:
        yield address


@pytest.fixture
def guest(new_visitor: Callable[..., Page], address: str) -> Callable[..., Page]:
    """A guest who trains, and shares nothing yet."""

    def start(width: int, height: int, task: str) -> Page:
        tab = new_visitor(width, height)
        sent: list[str] = []
        tab.on("request", lambda request: sent.append(request.url))
        tab.goto(f"{address}train")
        expect(tab.get_by_test_id("train-share")).not_to_be_checked()
        tab.get_by_test_id("train-task").select_option(task)
        tab.get_by_test_id("train-start").click()
        expect(tab.get_by_test_id("moment-count")).to_contain_text("step 25", timeout=SOON)
        assert not any(url.endswith("/class/curve") for url in sent)
        return tab

    return start


def test_the_host_sees_the_curves_that_guests_share(
    new_host: Callable[[str], Page], guest: Callable[..., Page], address: str
) -> None:
    host = new_host(address)
    host.goto(f"{address}train?run=recorded/reverse")
    curves = host.locator(".st-key-class-curves")
    chart = curves.get_by_test_id("chart")
    laptop, phone = guest(1024, 768, "sort"), guest(390, 844, "copy")
    phone.get_by_test_id("train-share").check()  # what came before is sent, too
    expect(curves.locator("summary")).to_contain_text("Curves of the class")
    curves.locator("summary").click()
    expect(chart).to_contain_text("copy (1)")
    laptop.get_by_test_id("train-share").check()
    expect(chart).to_contain_text("sort (1)")  # it is still open
    expect(curves.locator("tbody tr")).to_have_count(2)
    for width in (390, 1440):
        host.set_viewport_size({"width": width, "height": 800})
        assert chart.evaluate(ROOM_ABOVE_LEGEND) > 0
    for tab in (phone, laptop):
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_guest_trains_on_and_is_told_when_the_class_takes_no_curve(
    guest: Callable[..., Page], complaints: list[str]
) -> None:
    tab = guest(1024, 768, "reverse")
    bar, share = tab.get_by_test_id("train-bar"), tab.get_by_test_id("train-share")
    tab.context.set_offline(True)
    share.check()
    expect(bar).to_contain_text(say("browser_training.unshared"))
    expect(tab.get_by_test_id("run-state")).to_have_text("done early: 99 % right", timeout=SOON)
    tab.context.set_offline(False)  # the curve is then sent again
    expect(bar).not_to_contain_text(say("browser_training.unshared"))
    forget_browsers_own(complaints)
