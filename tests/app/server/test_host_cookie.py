"""The host's cookie, from the ticket to the rights."""

from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.server import access, host_cookie
from explorer.app.server.host_cookie import PATH, TICKET_HEADER


@pytest.fixture(params=["", "/class"])
def browser(request, monkeypatch) -> Iterator[TestClient]:
    """A browser, with and without a base path, in class mode."""
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    route = Route(f"{request.param}{PATH}", host_cookie.set_cookie, methods=["POST"])
    with TestClient(Starlette(routes=[route])) as client:
        client.base_url = client.base_url.join(f"{request.param}/")
        yield client


def exchange(browser: TestClient, ticket: str):
    return browser.post(PATH.removeprefix("/"), headers={TICKET_HEADER: ticket})


def test_a_ticket_is_exchanged_for_a_cookie_that_no_script_and_no_other_site_can_use(browser):
    answer = exchange(browser, access.new_ticket())
    assert answer.status_code == 204
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert f"path={browser.base_url.path.rstrip('/') or '/'};" in f"{cookie};"
    assert "max-age" not in cookie  # it ends with the browser
    assert "swordfish" not in cookie
    assert access.is_host_cookie(answer.cookies[access.cookie_name()])


def test_a_ticket_is_good_once(browser):
    ticket = access.new_ticket()
    assert exchange(browser, ticket).status_code == 204
    again = exchange(browser, ticket)
    assert again.status_code == 403
    assert "set-cookie" not in again.headers


def test_a_ticket_expires(browser, monkeypatch):
    ticket = access.new_ticket()
    later = access.time.monotonic() + 61
    monkeypatch.setattr(access.time, "monotonic", lambda: later)
    assert exchange(browser, ticket).status_code == 403


@pytest.mark.parametrize("ticket", ["", "x", "swordfish"])
def test_without_a_ticket_there_is_no_cookie(browser, ticket):
    assert exchange(browser, ticket).status_code == 403
    assert browser.post(PATH.removeprefix("/")).status_code == 403


def test_the_cookie_of_another_server_or_outside_class_mode_gives_no_rights(monkeypatch):
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    name, value = access.cookie_name(), access.cookie_value()
    assert access.is_host_cookie(value)
    monkeypatch.setenv(access.KEY_VARIABLE, "sunfish")
    assert not access.is_host_cookie(value)
    assert access.cookie_name() != name
    monkeypatch.delenv(access.KEY_VARIABLE)
    assert not access.is_host_cookie(access.cookie_value())
    assert not access.is_host_cookie("")


def test_few_tickets_are_remembered(monkeypatch):
    monkeypatch.setattr(access, "_tickets", access.OrderedDict())
    for _ in range(1000):
        access.new_ticket()
    assert len(access._tickets) == 64
