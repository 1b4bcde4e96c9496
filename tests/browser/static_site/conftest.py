"""The static site from disk, served, on a slow network and on a phone."""

import shutil
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route

from explorer.app.static_site import write_static_site
from explorer.model.catalog import shipped_models
from tests.support.static_site_page import Opener, holder

MODELS = ("reverse", "english-french", "copy")


class Quiet(SimpleHTTPRequestHandler):
    """Like `python -m http.server`, without a line for each request."""

    def log_message(self, *facts: object) -> None:
        pass


@pytest.fixture(scope="session")
def static_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    listed = shipped_models()
    write_static_site([listed[name] for name in MODELS], out)
    return out


@pytest.fixture
def static_site_copy(static_site: Path, tmp_path: Path) -> Path:
    """A copy, of which a test may take files away."""
    return shutil.copytree(static_site, tmp_path / "site")


@pytest.fixture(scope="session")
def served(static_site: Path) -> Iterator[str]:
    """The static site below a path of a plain web server."""
    handler = partial(Quiet, directory=str(static_site.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{static_site.name}/"
        server.shutdown()


@pytest.fixture
def on_disk(new_visitor: Callable[..., Page], static_site: Path) -> Callable[..., Page]:
    """Open the static site from disk, with the network off."""

    def show(fragment: str = "", width: int = 1440, height: int = 900) -> Page:
        tab = new_visitor(width, height)
        tab.context.set_offline(True)
        tab.goto((static_site / "index.html").as_uri() + fragment)
        tab.wait_for_selector(".plotted")
        return tab

    return show


@pytest.fixture
def on_slow_network(browser: Browser, served: str) -> Iterator[Opener]:
    """Open the served static site with the files of some models held back; also these requests."""
    context = browser.new_context(service_workers="block", locale="en-US")

    def show(*names: str) -> tuple[Page, dict[str, list[Route]]]:
        tab = context.new_page()
        held: dict[str, list[Route]] = {name: [] for name in names}
        for name, routes in held.items():
            tab.route(f"**/models/{name}.js*", holder(routes))
        tab.goto(served)
        return tab, held

    yield show
    context.close()


@pytest.fixture
def on_phone(phone: Callable[..., Page], static_site: Path) -> Callable[..., Page]:
    """Open the static site on a phone, upright or lying."""

    def show(fragment: str = "", width: int = 390, height: int = 844) -> Page:
        tab = phone(width, height)
        tab.goto((static_site / "index.html").as_uri() + fragment)
        tab.wait_for_selector(".plotted")
        return tab

    return show
