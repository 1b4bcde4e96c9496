"""The page on which the host enters."""

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.server import access, host_page


@pytest.mark.parametrize(
    ("asked", "language", "words"),
    [("en-GB,en", "en", "Enter as the host"), ("zh-CN", "zh-Hans", "以主持人身份进入")],
)
def test_it_is_in_the_browser_s_language_and_has_no_secret(asked, language, words, monkeypatch):
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    browser = TestClient(Starlette(routes=[Route(host_page.PATH, host_page.serve)]))
    answer = browser.get("/host", headers={"Accept-Language": asked})
    assert answer.headers["cache-control"] == "no-store"
    assert f'<html lang="{language}">' in answer.text
    assert words in answer.text
    assert not {"swordfish", access.issue_ticket(), access.cookie_value()} & set(
        answer.text.split('"')
    )
    assert "{" not in answer.text.partition("<body>")[0].partition("<title>")[2].split("<style>")[0]


def test_the_ticket_is_in_the_fragment_which_no_server_sees():
    link = host_page.link("http://192.0.2.7:8501/class", "ticket")
    assert link == "http://192.0.2.7:8501/class/host#ticket"
