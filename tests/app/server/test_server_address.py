from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.server import loading_page, server_address
from explorer.app.server.server_address import ServerAddress
from explorer.components.bundle import BUNDLES, components_address

PAGE = (
    "<!DOCTYPE html><html><head><title>a</title></head>"
    '<body><div id="root"></div>é <head></body></html>'
)
OWN = "<html><head></head><body>a page of the app's own</body></html>"
LOADING = loading_page.element().decode()
FILES = (
    BUNDLES / "everything_start.js",
    *(
        Path(server_address.__file__).with_name(f"{name}.js")
        for name in (
            *("browser_history", "chosen_language", "header_room"),
            *("main_stop", "message_in_view", "refused_address"),
        )
    ),
)
SCRIPTS = "".join(f"<script>{file.read_text('utf-8')}</script>" for file in FILES)
AHEAD = f'<link rel="modulepreload" href="./{components_address()}">'
SCRIPT = f'<head><script src="./server_address.js"></script>{AHEAD}{SCRIPTS}<title>'


def with_both() -> str:
    return PAGE.replace("<head><title>", SCRIPT).replace("</body>", f"{LOADING}</body>")


async def page(request: Request) -> Response:
    return HTMLResponse(PAGE, headers={"ETag": '"x"', "Last-Modified": "now"})


async def in_parts(scope, receive, send):
    start = {"type": "http.response.start", "status": 200}
    await send({**start, "headers": [(b"content-type", b"text/html")]})
    for part in (PAGE[:20], PAGE[20:]):
        await send({"type": "http.response.body", "body": part.encode(), "more_body": True})
    await send({"type": "http.response.body"})


@pytest.fixture
def browser() -> TestClient:
    app = Starlette(
        routes=[
            Route("/page", page),
            Route("/own", lambda request: HTMLResponse(OWN)),
            Route("/missing", lambda request: HTMLResponse(PAGE, 404)),
            Route("/text", lambda request: PlainTextResponse("<head>")),
            Route(
                "/data", lambda request: JSONResponse({"encoded": "gzip" in str(request.headers)})
            ),
            Route(server_address.PATH, server_address.serve_script),
        ],
        middleware=[Middleware(ServerAddress), Middleware(GZipMiddleware, minimum_size=1)],
    )
    return TestClient(app, headers={"Accept": "text/html,*/*", "Accept-Encoding": "gzip"})


def test_a_page_in_which_streamlit_draws_nothing_is_left_alone(browser):
    assert browser.get("/own").text == OWN


def test_a_page_loads_the_script_first(browser):
    answer = browser.get("/page")
    assert answer.text == with_both()
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert "etag" not in answer.headers  # it is that of the page without the script
    assert "last-modified" not in answer.headers
    assert "./" + browser.get("/server_address.js").url.path.lstrip("/") in answer.text


def test_a_page_that_is_sent_in_parts_is_put_together():
    answer = TestClient(ServerAddress(in_parts), headers={"Accept": "text/html"}).get("/")
    assert answer.text == with_both()


def test_nothing_else_is_changed(browser):
    assert browser.get("/text").text == "<head>"
    assert browser.get("/missing").text == PAGE
    assert browser.get("/page", headers={"Accept": "*/*"}).text == PAGE
    compressed = browser.get("/data", headers={"Accept": "application/json"})
    assert compressed.headers["content-encoding"] == "gzip"
    assert compressed.json() == {"encoded": True}


def test_the_script_names_the_folder_of_the_page(browser):
    script = browser.get("/server_address.js")
    assert script.headers["content-type"].startswith("text/javascript")
    assert 'new URL(".", document.baseURI)' in script.text
