"""The host's cookie, for the ticket of the link or for the key."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.server import access, host_cookie
from explorer.app.server.host_cookie import KEY_HEADER, PATH, TICKET_HEADER
from explorer.app.server.key_attempts import FREE, KeyAttempts


@pytest.fixture(params=["", "/class"])
def browser(request, monkeypatch) -> Iterator[TestClient]:
    """A browser, with and without a base path, in class mode."""
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    monkeypatch.setattr(access, "_tickets", set())
    monkeypatch.setattr(host_cookie, "_key_attempts", KeyAttempts(addresses=9))
    route = Route(f"{request.param}{PATH}", host_cookie.set_cookie, methods=["POST"])
    with TestClient(Starlette(routes=[route])) as client:
        client.base_url = client.base_url.join(f"{request.param}/")
        yield client


def exchange(browser: TestClient, word: str, header: str = TICKET_HEADER, language: str = "en"):
    headers = {header: quote(word), "Accept-Language": language}
    return browser.post(PATH.removeprefix("/"), headers=headers)


@pytest.mark.parametrize("header", [TICKET_HEADER, KEY_HEADER])
def test_the_cookie_is_one_that_no_script_and_no_form_of_another_site_can_use(browser, header):
    answer = exchange(
        browser, access.issue_ticket() if header == TICKET_HEADER else "swordfish", header
    )
    assert answer.status_code == 204
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie  # a link of another site opens the host's page
    assert f"path={browser.base_url.path.rstrip('/') or '/'};" in f"{cookie};"
    assert "max-age" not in cookie  # it ends with the browser
    assert "swordfish" not in cookie
    assert access.is_host_cookie(answer.cookies[access.cookie_name()])


def test_a_link_is_good_once_and_says_so_in_the_browser_s_language(browser):
    ticket = access.issue_ticket()
    assert exchange(browser, ticket).status_code == 204
    again = exchange(browser, ticket)
    assert again.status_code == 403
    assert "set-cookie" not in again.headers
    assert "used before" in again.text
    assert "已被使用" in exchange(browser, ticket, language="zh-CN,zh;q=0.9").text


@pytest.mark.parametrize("ticket", ["x", "swordfish", "密钥"])
def test_another_word_is_no_ticket(browser, ticket):
    assert exchange(browser, ticket).status_code == 403


@pytest.mark.parametrize("key", ["", "x", "密钥"])
def test_another_word_is_not_the_key(browser, key):
    answer = exchange(browser, key, KEY_HEADER)
    assert answer.status_code == 403
    assert "not the host's key" in answer.text
    assert "set-cookie" not in answer.headers


def test_after_wrong_keys_the_right_one_has_to_wait_and_the_link_has_not(browser):
    answers = [exchange(browser, "wrong", KEY_HEADER) for _ in range(FREE + 1)]
    assert answers[0].status_code == 403
    assert answers[-1].status_code == 429
    refused = exchange(browser, "swordfish", KEY_HEADER)
    assert refused.status_code == 429
    assert "counts in" in refused.text
    assert exchange(browser, access.issue_ticket()).status_code == 204


def test_without_either_there_is_no_cookie(browser):
    assert browser.post(PATH.removeprefix("/")).status_code == 403


def test_the_cookie_of_another_server_or_outside_class_mode_is_not_the_host_s(monkeypatch):
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    name, value = access.cookie_name(), access.cookie_value()
    assert access.is_host_cookie(value)
    monkeypatch.setenv(access.KEY_VARIABLE, "sunfish")
    assert not access.is_host_cookie(value)
    assert access.cookie_name() != name
    monkeypatch.delenv(access.KEY_VARIABLE)
    assert not access.is_host_cookie(access.cookie_value())
    assert not access.is_host_cookie("")
