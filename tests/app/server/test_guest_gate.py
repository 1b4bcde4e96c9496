"""Who is let through to Streamlit in class mode, and what all others get."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

from explorer.app.server import access, class_route, guest_site
from explorer.app.server.class_session import ClassSession, Screen
from explorer.app.server.guest_files import compressed
from explorer.app.server.guest_gate import GuestGate
from explorer.app.server.guest_site import GuestSite

SHOWN, OTHER = "a" * 64, "b" * 64
TRAINING = {"run": "runs/reverse-1", "others": ["runs/compared-1"]}
STREAMLIT = [
    "/_stcore/host-config",
    "/_stcore/stream",
    "/_stcore/metrics",
    "/_stcore/upload_file/session/file",
    "/media/x.bin",
    "/static/js/index.js",
    "/component/x",
    "/moments/runs/reverse/1",
    "/moments/runs/compared-1/1",
    "/moments/runs/reverse-1/x",
    "/moments/runs/reverse-1/../x/1",
    "/moments/runs/reverse-1",
    "/class/screen",
    "/fetch/gpt2",
    "/class/lead",
    "/class/code",
    f"/trace/{OTHER}/vectors/cross/0/0",
    f"/class/trace/{OTHER}",
    f"/trace/{SHOWN}x/vectors/cross/0/0",
    f"/trace/{SHOWN}",
    f"/trace/{SHOWN}/../x",
    f"/class/trace/{SHOWN}/%2e%2e/%2e%2e/%2e%2e/index.html",
    "/../app.py",
]
OPEN = [
    ("GET", "/class/events"),
    ("POST", "/class/vote"),
    ("POST", "/class/curve"),
    ("GET", "/host"),
    ("POST", "/host-cookie"),
    ("GET", "/server_address.js"),
    ("GET", "/_stcore/health"),
    ("GET", f"/trace/{SHOWN}/vectors/cross/0/0"),
    ("GET", f"/class/trace/{SHOWN}"),
    ("GET", "/class/training"),
    ("GET", "/moments/runs/reverse-1/25"),
]
METHODS = ("GET", "POST", "PUT", "DELETE")


async def stream(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.send_text("Streamlit's own")
    await websocket.close()


@pytest.fixture(params=["", "/base"])
def base(request, monkeypatch) -> str:
    """The base path, in class mode, while the host shows one trace, and one training (as no host
    does at the same time)."""
    monkeypatch.setenv(access.KEY_VARIABLE, "swordfish")
    session = ClassSession()
    view = {"query": {}, "shown": {}, "trace": SHOWN, "training": TRAINING}
    session.show(Screen(view=view))
    monkeypatch.setattr(class_route, "session", session)
    site = GuestSite()
    site.fill(compressed([("index.html", b"<html >the guests' page")], request.param))
    monkeypatch.setattr(guest_site, "site", site)
    return request.param


@pytest.fixture
def guest(base) -> TestClient:
    own = Route(
        "/{path:path}",
        lambda request: PlainTextResponse("Streamlit's own"),
        methods=METHODS,
    )
    app = Starlette(
        routes=[WebSocketRoute(f"{base}/_stcore/stream", stream), own],
        middleware=[Middleware(GuestGate, base=base)],
    )
    return TestClient(app, follow_redirects=False)


@pytest.fixture
def host(guest) -> TestClient:
    client = TestClient(guest.app)
    client.cookies.set(access.cookie_name(), access.cookie_value())
    return client


@pytest.mark.parametrize("path", STREAMLIT)
def test_guests_get_nothing_of_streamlit_and_one_sentence(guest, host, base, path):
    for method in METHODS:
        answer = guest.request(method, f"{base}{path}", headers={"Accept-Language": "zh"})
        assert answer.status_code == 403, method
        assert "课堂访客" in answer.text
        assert answer.headers["cache-control"] == "no-store"
    assert host.get(f"{base}{path}").text == "Streamlit's own"


@pytest.mark.parametrize(("method", "path"), OPEN)
def test_the_routes_of_a_class_are_open_for_their_own_method(guest, base, method, path):
    """A request that none of them takes would reach Streamlit's files."""
    for sent in METHODS:
        status = 200 if sent == method else 403
        assert guest.request(sent, f"{base}{path}").status_code == status


def test_guests_get_their_page_and_the_host_the_app(guest, host, base):
    assert guest.get(f"{base}/").text.endswith("the guests' page")
    assert guest.get(f"{base}/?model=copy").headers["location"] == "./#model=copy"
    assert host.get(f"{base}/").text == "Streamlit's own"


def test_the_address_below_a_base_path_may_lack_its_last_stroke(guest, host, base):
    """As the invitation prints it, and as people type it."""
    if not base:
        return
    answer = guest.get(f"{base}?model=copy")
    assert answer.status_code == 307
    assert answer.headers["location"].endswith(f"{base}/?model=copy")
    assert guest.post(base).status_code == 403
    assert host.get(base).text == "Streamlit's own"


def test_nobody_s_event_stream_is_asked_for_by_another_method(guest, base):
    assert guest.head(f"{base}{class_route.EVENTS_PATH}").status_code == 403


def test_a_guest_s_websocket_is_refused_before_it_is_accepted(guest, host, base):
    with (
        pytest.raises(WebSocketDisconnect) as refused,
        guest.websocket_connect(f"{base}/_stcore/stream"),
    ):
        pass
    assert refused.value.code == 1008
    with host.websocket_connect(f"{base}/_stcore/stream") as connection:
        assert connection.receive_text() == "Streamlit's own"


@pytest.mark.parametrize("value", ["", "guessed", "é", "swordfish"])
def test_another_cookie_is_no_host_s(guest, base, value):
    headers = {"Cookie": f"{access.cookie_name()}={value}".encode("latin-1")}
    assert guest.get(f"{base}/_stcore/stream", headers=headers).status_code == 403


def test_a_trace_is_open_as_long_as_the_host_shows_it(guest, base):
    class_route.session.show(Screen(view={"query": {}, "shown": {}, "trace": OTHER}))
    assert guest.get(f"{base}/trace/{OTHER}/head/x").status_code == 200
    assert guest.get(f"{base}/trace/{SHOWN}/head/x").status_code == 403
    assert guest.get(f"{base}/moments/runs/reverse-1/25").status_code == 403
    class_route.session.show(Screen())
    assert guest.get(f"{base}/class/trace/{OTHER}").status_code == 403
    assert guest.get(f"{base}/class/trace/").status_code == 403


def test_nothing_is_served_outside_of_the_base_path(guest, base):
    if base:
        assert guest.get("/class/events").status_code == 403
        assert guest.get("/").status_code == 403
