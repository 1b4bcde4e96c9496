import gc
import runpy
import sys
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.server import asgi, static_files, warmup
from explorer.app.server.static_files import Compressed, serve_plotly
from explorer.app.server.upload_guard import Gate
from explorer.components.player import PLOTLY

ROOT = Path(__file__).parents[2]


def client(host: str, base: str = "") -> TestClient:
    """A browser at `host`, before what the app adds to Streamlit."""
    app = Starlette(
        routes=[
            Route(f"{base}/plotly.min.js", serve_plotly),
            Route("/{path:path}", lambda request: PlainTextResponse("Streamlit's own")),
        ],
        middleware=[Middleware(Compressed, base=base)],
    )
    return TestClient(app, client=(host, 50_000))


def a_script() -> str:
    return next(name for name in static_files._scripts() if name.startswith("static/js/index"))


def test_plotly_is_the_installed_one_compressed_and_kept():
    answer = client("127.0.0.1").get("/plotly.min.js")
    assert answer.content == PLOTLY.read_bytes()
    assert answer.headers["content-encoding"] == "gzip"
    assert int(answer.headers["content-length"]) < 1_600_000
    assert "max-age=2592000" in answer.headers["cache-control"]


def test_a_browser_that_has_plotly_is_not_sent_it_again():
    browser = client("127.0.0.1")
    mark = browser.get("/plotly.min.js").headers["etag"]
    answer = browser.get("/plotly.min.js", headers={"If-None-Match": mark})
    assert answer.status_code == 304
    assert answer.content == b""


def test_a_browser_without_gzip_gets_plotly_plain():
    answer = client("127.0.0.1").get("/plotly.min.js", headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in answer.headers
    assert answer.content == PLOTLY.read_bytes()


def test_other_machines_get_streamlit_s_scripts_compressed():
    answer = client("192.0.2.7").get(f"/{a_script()}")
    assert answer.headers["content-encoding"] == "gzip"
    assert "immutable" in answer.headers["cache-control"]
    assert answer.content == (static_files._STATIC / a_script()).read_bytes()


def test_under_another_path_the_scripts_are_found_too():
    browser = client("192.0.2.7", base="/class")
    assert browser.get(f"/class/{a_script()}").headers["content-encoding"] == "gzip"
    assert browser.get(f"/{a_script()}").text == "Streamlit's own"


@pytest.mark.parametrize(
    "path",
    ["/", "/static/js/none.js", "/static/../../app.py", "/static/%2e%2e/index.html", "/app.py"],
)
def test_everything_else_is_left_to_streamlit(path):
    assert client("192.0.2.7").get(path).text == "Streamlit's own"


def test_this_machine_s_own_browser_is_served_by_streamlit():
    assert client("127.0.0.1").get(f"/{a_script()}").text == "Streamlit's own"


@pytest.mark.parametrize(("path", "base"), [("", ""), ("class", "/class"), ("/a/b/", "/a/b")])
def test_routes_respect_the_base_path(monkeypatch, path, base):
    monkeypatch.setattr(asgi.st, "get_option", lambda name: path)
    assert asgi.base_path() == base
    assert all(route.path.startswith(f"{base}/") for route in asgi.routes())


def test_what_warming_up_changes_is_put_back(monkeypatch):
    seen: list[tuple[bool, bool]] = []
    usual = sys.getswitchinterval()

    def note(module: str) -> None:
        seen.append((gc.isenabled(), sys.getswitchinterval() < usual))
        raise ImportError(module)

    monkeypatch.setattr(warmup, "import_module", note)
    with pytest.raises(ImportError):
        warmup._warm_up()
    assert seen == [(False, True)]
    assert gc.isenabled()
    assert sys.getswitchinterval() == pytest.approx(usual)


def test_the_entry_script_checks_uploads():
    entry = runpy.run_path(str(ROOT / "app.py"))
    assert Gate in [middleware.cls for middleware in entry["app"]._user_middleware]
