import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.server.security_headers import FRAMES_VARIABLE, SecurityHeaders


async def page(request: Request) -> Response:
    return PlainTextResponse("page")


@pytest.fixture
def browser() -> TestClient:
    routes = [Route("/{path:path}", page)]
    app = Starlette(routes=routes, middleware=[Middleware(SecurityHeaders)])
    return TestClient(app, base_url="http://localhost:8501")


def directives(browser: TestClient) -> dict[str, str]:
    policy = browser.get("/").headers["content-security-policy"]
    return dict(part.split(" ", 1) for part in policy.split("; "))


def test_every_answer_carries_the_headers(browser):
    headers = browser.get("/anything").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


def test_a_page_loads_and_connects_to_its_own_server_only(browser):
    policy = directives(browser)
    assert policy["default-src"] == "'self'"
    assert policy["object-src"] == "'none'"
    assert "'unsafe-eval'" not in policy["script-src"].split()
    assert policy["connect-src"] == "'self' ws://localhost:8501 wss://localhost:8501"


def test_only_listed_pages_may_frame_the_app(browser, monkeypatch):
    assert directives(browser)["frame-ancestors"] == "'self'"
    monkeypatch.setenv(FRAMES_VARIABLE, "https://moodle.example.org https://*.example.edu")
    assert directives(browser)["frame-ancestors"] == (
        "'self' https://moodle.example.org https://*.example.edu"
    )


def test_a_setting_cannot_add_directives(browser, monkeypatch):
    monkeypatch.setenv(FRAMES_VARIABLE, "https://a.org;script-src https://b.org\r\n*,")
    policy = directives(browser)
    assert policy["frame-ancestors"] == "'self' https://b.org"
    assert policy["script-src"].startswith("'self'")
