"""A page behind a proxy that names another host says why it never loads."""

import re
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, Page, expect

SETTING = "STREAMLIT_SERVER_CORS_ALLOWED_ORIGINS"
SENTENCES = {
    "en": f"This server does not answer to pages of {{origin}}. {{rest}} ({SETTING}).",
    "zh": f"此服务器不接受来自 {{origin}} 的页面的请求。{{rest}}（{SETTING}）允许它们。",
}


@contextmanager
def proxy_without_host(address: str) -> Iterator[str]:
    """A proxy that asks by its own name for the server, as nginx does unless told otherwise."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            headers = {name: value for name, value in self.headers.items() if name != "Host"}
            request = urllib.request.Request(
                address.rstrip("/") + self.path, headers=headers, method=self.command
            )
            try:
                found = urllib.request.urlopen(request)
            except urllib.error.HTTPError as error:
                found = error
            body = found.read()
            self.send_response(found.status)
            for name, value in found.headers.items():
                if name.lower() not in ("content-length", "connection", "transfer-encoding"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.answer()

        def do_POST(self) -> None:
            self.answer()

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def expect_refusal(tab: Page, language: str, origin: str) -> None:
    start, end = SENTENCES[language].format(origin=origin, rest="|").split("|")
    said = re.compile(f"^{re.escape(start)}.*{re.escape(end)}$")
    expect(tab.locator(".loading-page [role=alert]")).to_have_text(said)
    expect(tab.locator(".loading-page p")).to_have_count(1)


@pytest.mark.parametrize("language", SENTENCES)
def test_it_says_after_seconds_that_the_address_is_not_allowed(
    address: str, browser: Browser, language: str
) -> None:
    with proxy_without_host(address) as origin, browser.new_context(locale=language) as visitor:
        tab = visitor.new_page()
        tab.goto(origin)
        expect_refusal(tab, language, origin)


def test_it_says_so_at_once_when_a_script_fails_to_load(address: str, browser: Browser) -> None:
    with proxy_without_host(address) as origin, browser.new_context(locale="en") as visitor:
        tab = visitor.new_page()
        tab.clock.install()  # the seconds never pass
        tab.route("**/static/js/*.js", lambda route: route.abort())
        tab.goto(origin)
        tab.evaluate(
            "document.body.append(Object.assign(document.createElement('script'), "
            "{ src: './static/js/late.js' }))"
        )
        expect_refusal(tab, "en", origin)


def test_a_page_of_an_allowed_address_says_nothing_when_a_script_fails(
    address: str, browser: Browser
) -> None:
    with browser.new_context(locale="en") as visitor:
        tab = visitor.new_page()
        tab.route("**/static/js/*.js", lambda route: route.abort())
        with tab.expect_response("**/_stcore/health") as answer:
            tab.goto(address)
        assert answer.value.status != 403
        expect(tab.locator(".loading-page p")).to_have_count(2)
        expect(tab.locator(".loading-page [role=alert]")).to_have_count(0)
