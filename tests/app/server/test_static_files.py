import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app.server import static_files
from explorer.app.server.static_files import CompressedScripts, serve_components, serve_plotly
from explorer.components.bundle import COMPONENTS, PLOTLY

OWN = pytest.mark.parametrize(
    ("path", "file"), [("/plotly.min.js", PLOTLY), ("/components.js", COMPONENTS)]
)


def client(host: str, base: str = "") -> TestClient:
    """A browser at `host`, in front of what the app adds to Streamlit."""
    app = Starlette(
        routes=[
            Route(f"{base}/plotly.min.js", serve_plotly),
            Route(f"{base}/components.js", serve_components),
            Route("/{path:path}", lambda request: PlainTextResponse("Streamlit's own")),
        ],
        middleware=[Middleware(CompressedScripts, base=base)],
    )
    return TestClient(app, client=(host, 50_000))


def a_script() -> str:
    return next(name for name in static_files._scripts() if name.startswith("static/js/index"))


@OWN
def test_a_script_is_sent_compressed_and_cached(path, file):
    answer = client("127.0.0.1").get(path)
    assert answer.content == file.read_bytes()
    assert answer.headers["content-encoding"] == "gzip"
    assert int(answer.headers["content-length"]) < 0.41 * file.stat().st_size
    assert "max-age=2592000" in answer.headers["cache-control"]


@OWN
def test_a_browser_with_a_current_copy_gets_no_second_one(path, file):
    browser = client("127.0.0.1")
    etag = browser.get(path).headers["etag"]
    answer = browser.get(path, headers={"If-None-Match": etag})
    assert answer.status_code == 304
    assert answer.content == b""


@OWN
def test_a_browser_without_gzip_gets_a_script_uncompressed(path, file):
    answer = client("127.0.0.1").get(path, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in answer.headers
    assert answer.content == file.read_bytes()


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
