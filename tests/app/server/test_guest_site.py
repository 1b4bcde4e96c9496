"""The guests' site: its files, their headers, and the links of earlier classes."""

import gzip
from itertools import chain
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from explorer.app import static_site
from explorer.app.server import guest_files, guest_site
from explorer.app.server.guest_files import compressed
from explorer.app.server.guest_site import GuestSite
from explorer.model.catalog import shipped_models

FILES = {
    "index.html": b'<!doctype html>\n<html lang="en">\nfirst',
    "live.js": b"live" * 100,
    "models/reverse.js": bytes(range(256)) * 2_000,
    "lessons/the-mask.zh.html": b'<html lang="zh-Hans">',
    "training.en.html": b'<html lang="en">',
    "service-worker.js": b"offline",
}


def client(site: GuestSite) -> TestClient:
    async def serve(request: Request) -> Response:
        answer = await site.answer(request, request.url.path)
        return answer or PlainTextResponse("none", 404)

    routes = [Route("/{path:path}", serve, methods=["GET", "HEAD", "POST"])]
    return TestClient(Starlette(routes=routes), follow_redirects=False)


@pytest.fixture
def site(monkeypatch) -> GuestSite:
    site = GuestSite()
    site.add(compressed(FILES.items(), ""))
    monkeypatch.setattr(guest_site, "PATIENCE", 0.0)
    return site


@pytest.mark.parametrize("name", ["live.js", "models/reverse.js"])
def test_a_file_is_sent_whole_and_compressed(site, name):
    browser = client(site)
    answer = browser.get(f"/{name}?version")
    assert answer.content == FILES[name]
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["cache-control"].startswith("public, max-age=")
    assert int(answer.headers["content-length"]) == len(gzip.compress(FILES[name], 6, mtime=0))
    head = browser.head(f"/{name}?version")
    assert head.content == b""
    assert head.headers["content-length"] == answer.headers["content-length"]


def test_a_current_copy_is_not_sent_again_and_pages_are_asked_for_anew(site):
    browser = client(site)
    for path in ("/", "/live.js", "/lessons/the-mask.zh.html"):
        answer = browser.get(path)
        assert answer.headers["cache-control"] == "no-cache"
        assert "Cookie" in answer.headers["vary"]  # the host has the app at this address
        again = browser.get(path, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    assert browser.get("/", headers={"If-None-Match": '"other"'}).status_code == 200


@pytest.mark.parametrize("path", ["/none.js", "/../app.py", "/%2e%2e/app.py", "/models", "/x?y=1"])
def test_other_files_are_not_there(site, path):
    site._complete = True
    assert client(site).get(path).status_code == 404


def test_nothing_can_be_sent_to_it(site):
    assert client(site).post("/index.html").status_code == 404


@pytest.mark.parametrize("path", ["/", "/heads", "/explore", "/index.html"])
def test_a_link_of_an_earlier_class_opens_the_same_look(site, path):
    query = "model=reverse&text=1+2+%E4%BD%A0%26&pad=2&force=2.7&step=3&lang=zh"
    answer = client(site).get(f"{path}?{query}")
    assert answer.status_code == 302
    assert answer.headers["cache-control"] == "no-store"
    target = urlsplit(answer.headers["location"])
    assert target.path == "./"
    assert parse_qs(target.fragment) == parse_qs(query)


@pytest.mark.parametrize(
    ("link", "language", "target"),
    [
        ("/?lesson=the-mask&card=2", "zh", "lessons/the-mask.zh.html#card=2"),
        ("/?lesson=the-mask&card=%23x", "zh", "lessons/the-mask.zh.html"),
        ("/?lesson=the-mask&lang=zh", "en", "lessons/the-mask.zh.html"),
        ("/?lesson=none&model=copy", "zh", "./#lesson=none&model=copy"),
        ("/?lesson=../x", "en", "./#lesson=../x"),
        ("/train?run=x", "en", "training.en.html"),
        ("/heads", "en", "./#"),
    ],
)
def test_lessons_and_the_other_pages_have_their_place_in_the_site(site, link, language, target):
    answer = client(site).get(link, headers={"Accept-Language": language})
    assert answer.headers["location"] == target


def test_a_file_that_is_being_made_is_waited_for_and_the_first_page_says_so(monkeypatch):
    site = GuestSite()
    monkeypatch.setattr(guest_site, "PATIENCE", 0.0)
    assert client(site).get("/").status_code == 503
    for path in ("/", "/live.js"):
        assert "reload in a moment" in client(site).get(path).text
    monkeypatch.setattr(guest_site, "PATIENCE", 600.0)

    async def arrive(_: float) -> None:
        site.add(compressed(FILES.items(), ""))

    monkeypatch.setattr(guest_site.asyncio, "sleep", arrive)
    assert client(site).get("/live.js").content == FILES["live.js"]


def test_a_failure_ends_the_waiting(monkeypatch):
    def broken():
        yield from compressed([("live.js", b"live")], "")
        raise OSError("disk")

    site = GuestSite()
    with pytest.raises(OSError, match="disk"):
        site.fill(broken())
    monkeypatch.setattr(guest_site, "PATIENCE", 600.0)
    assert client(site).get("/live.js").status_code == 200
    assert client(site).get("/").status_code == 503
    assert client(site).get("/other.js").status_code == 404


def test_a_changed_file_takes_the_place_of_the_one_before(site):
    before = client(site).get("/").headers["etag"]
    site.add(compressed([("index.html", b"second")], ""))
    answer = client(site).get("/", headers={"If-None-Match": before})
    assert answer.text.endswith("second")


def test_the_real_site_has_every_file_that_the_static_site_has_but_those_for_offline_use():
    reverse = [shipped_models()["reverse"]]
    real = dict(chain(static_site.first_page_files(reverse), static_site.linked_files(reverse)))
    site = GuestSite()
    site.fill(compressed(real.items(), ""))
    browser = client(site)
    for name in real:
        status = 404 if name in guest_files._OFFLINE else 200
        assert browser.head(f"/{name}").status_code == status, name
    first_visit = ("index.html", "live.js", "live.css", "plotly.min.js", "models/reverse.js")
    sizes = (int(browser.head(f"/{name}").headers["content-length"]) for name in first_visit)
    assert sum(sizes) < 2_400_000
