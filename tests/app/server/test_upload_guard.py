from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.server import access, upload_guard
from explorer.app.server.upload_guard import LARGEST, MOST_FILES, UploadGuard

ROUTE = "/_stcore/upload_file/session/file"


async def streamlit(request: Request) -> Response:
    """Takes every file but those named "bad": Streamlit refuses sessions it does not know."""
    await request.body()
    return PlainTextResponse("taken", status_code=400 if "bad" in request.url.path else 204)


@pytest.fixture
def browser(monkeypatch) -> Iterator[TestClient]:
    """A browser in front of the middleware; nothing was uploaded, and nobody is a host."""
    monkeypatch.setattr(access, "_hosts", set())
    upload_guard._files_of.clear()
    methods = ["GET", "PUT", "POST", "DELETE", "OPTIONS"]
    app = Starlette(
        routes=[Route("/{path:path}", streamlit, methods=methods)],
        middleware=[Middleware(UploadGuard)],
    )
    with TestClient(app) as client:
        yield client
    upload_guard._files_of.clear()


@pytest.fixture
def class_mode(monkeypatch) -> None:
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")


@pytest.mark.parametrize("path", [ROUTE, f"/class{ROUTE}", f"/a/b{ROUTE}"])
@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE"])
def test_a_guest_in_class_mode_uploads_nothing(browser, class_mode, method, path):
    answer = browser.request(method, path, content=b"x" * 100)
    assert answer.status_code == 403
    assert answer.text == "In a classroom only the host brings files."


def test_a_guest_is_refused_in_the_browser_s_language(browser, class_mode):
    answer = browser.put(ROUTE, content=b"x", headers={"Accept-Language": "zh-CN,zh;q=0.9"})
    assert "主持人" in answer.text


def test_the_host_s_session_uploads_and_no_other(browser, class_mode):
    access.admit("session")
    assert browser.put(ROUTE, content=b"x").status_code == 204
    assert browser.put("/_stcore/upload_file/other/file", content=b"x").status_code == 403


def test_outside_class_mode_every_session_uploads(browser, monkeypatch):
    monkeypatch.delenv(access.KEY_VARIABLE, raising=False)
    assert browser.put(ROUTE, content=b"x").status_code == 204


@pytest.mark.parametrize(
    ("method", "path"), [("OPTIONS", ROUTE), ("GET", "/"), ("PUT", "/elsewhere"), ("GET", ROUTE)]
)
def test_every_other_request_passes(browser, class_mode, method, path):
    assert browser.request(method, path).status_code == 204


def send(browser: TestClient, name: str) -> int:
    return browser.put(f"/_stcore/upload_file/session/{name}", content=b"x").status_code


def test_a_session_has_a_few_files_on_the_server_at_a_time(browser):
    assert [send(browser, f"{n}") for n in range(MOST_FILES + 1)] == [204] * MOST_FILES + [413]
    browser.delete("/_stcore/upload_file/session/0")
    assert [send(browser, "new"), send(browser, "newer")] == [204, 413]
    upload_guard.forget("session")
    assert send(browser, "newest") == 204


def test_a_file_that_streamlit_refuses_is_not_counted(browser):
    assert [send(browser, f"bad-{n}") for n in range(9)] == [400] * 9
    assert upload_guard._files_of == {}


def test_a_failed_deletion_is_not_counted(browser):
    assert [send(browser, f"{n}") for n in range(MOST_FILES)] == [204] * MOST_FILES
    upload_guard._files_of["session"].add("bad")
    browser.delete("/_stcore/upload_file/session/bad")
    assert "bad" in upload_guard._files_of["session"]


def test_a_file_id_is_not_used_twice(browser):
    assert [send(browser, "one"), send(browser, "one")] == [204, 413]


def test_a_file_too_large_is_refused_by_its_length_alone(browser):
    answer = browser.put(ROUTE, content=b"", headers={"Content-Length": str(2 * LARGEST)})
    assert answer.status_code == 413
    assert "64 MB" in answer.text


def test_an_upload_of_unknown_length_is_refused(browser):
    answer = browser.put(ROUTE, content=iter([b"x"]))
    assert answer.status_code == 411


def test_a_length_of_thousands_of_digits_is_too_large(browser):
    answer = browser.put(ROUTE, content=b"x", headers={"Content-Length": "9" * 5_000})
    assert answer.status_code == 413
