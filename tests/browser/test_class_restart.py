"""A server in class mode that is started again: the host leads on, and guests follow."""

import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from explorer.app.server import host_cookie
from tests.support.app_server import PATIENCE, free_port, running_class


def test_a_class_goes_on_after_its_server_was_killed_and_after_it_was_stopped(
    new_visitor: Callable[..., Page], complaints: list[str], tmp_path: Path
) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}/"
    host, phone = new_visitor(1024, 768), new_visitor(390, 844)
    with running_class(port, tmp_path) as (link, server):
        host.goto(link)
        host.get_by_test_id("host-enter").click()
        expect(host.get_by_test_id("step-count")).to_be_visible()
        host.goto(f"{address}?model=reverse&text=5+1+2&step=1&guess=1")
        expect(host.locator(".plotted")).to_be_visible()
        host.get_by_role("button", name="Share").click()
        host.get_by_test_id("class-lead").click()
        host.keyboard.press("Escape")
        phone.goto(address)
        vote(phone, host)
        server.kill()
        server.wait(timeout=PATIENCE)
    with running_class(port, tmp_path) as (other, _):
        assert other != link
        with pytest.raises(urllib.error.HTTPError, match="403"):
            exchange(address, link)
        expect(host.get_by_test_id("class-answered")).to_have_text("0 of 1")
        vote(phone, host)
        host.get_by_test_id("class-reveal").click()
        expect(phone.get_by_test_id("class-note")).to_be_visible()
    complaints.clear()  # of connections that were refused
    with running_class(port, tmp_path):
        host.reload()  # before the page has connected
        host.keyboard.press("g")
        host.get_by_test_id("last").click()
        expect(phone.get_by_test_id("step-count")).to_have_text("step 4/4")
        expect(phone.get_by_test_id("class-status")).to_contain_text("Following the host")
        for tab in (host, phone):
            tab.goto("about:blank")
    complaints.clear()


def vote(phone: Page, host: Page) -> None:
    choice = phone.get_by_test_id("class-choices").get_by_role("button").first
    choice.click()
    expect(choice).to_have_attribute("aria-pressed", "true")
    expect(host.get_by_test_id("class-answered")).to_have_text("1 of 1")


def exchange(address: str, link: str) -> None:
    """Ask for the host's cookie with the ticket of a link."""
    headers = {host_cookie.TICKET_HEADER: link.partition("#")[2]}
    request = urllib.request.Request(f"{address}host-cookie", b"", headers)
    urllib.request.urlopen(request, timeout=PATIENCE).close()
