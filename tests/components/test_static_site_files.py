import json
import re
import struct

from explorer.components.bundle import script
from explorer.components.static_site_files import (
    ICONS,
    back_address,
    linked_plotly,
    linked_script,
    linked_styles,
    shared_files,
    version,
    version_of,
)
from explorer.core.folders import PACKAGE
from explorer.core.i18n import LANGUAGES


def test_another_version_of_a_static_site_has_another_name():
    files = {"a": b"1", "b": b"2"}
    others = [{"a": b"1", "b": b"3"}, {"a": b"1", "c": b"2"}, {"a": b"1b", "": b"2"}, {"a": b"1"}]
    assert len({version_of(one) for one in (files, dict(reversed(files.items())), *others)}) == 5
    assert re.fullmatch("[0-9a-f]{16}", version())


def test_a_service_worker_has_the_version_in_it_so_that_a_browser_notices_another():
    worker = shared_files()["service-worker.js"].decode()
    assert worker.startswith(f'self.staticSiteVersion = "{version()}";\n')
    assert worker.endswith(script("live_service_worker"))


def test_pages_ask_for_files_of_their_version_from_any_folder():
    files = shared_files()
    assert linked_script("live", "") == f'<script src="live.js?{version()}" defer></script>'
    assert f'href="../player.css?{version()}"' in linked_styles("player", "../")
    assert f'data-src="../plotly.min.js?{version()}"' in linked_plotly("../")
    assert {"live.js", "player.css", "plotly.min.js"} < set(files)


def test_what_the_service_worker_keeps_at_once_is_there():
    source = (PACKAGE / "components" / "live" / "js" / "serviceWorker.ts").read_text("utf-8")
    named = {name for name in shared_files() if f'"{name}"' in source}
    assert named == {
        *("live.js", "live.css", "plotly.min.js", "not-visited.html"),
        *("app.webmanifest", "icon-192.png", "icon-512.png"),
    }


def test_the_manifest_names_icons_of_their_size():
    manifest = json.loads(shared_files()["app.webmanifest"])
    assert {icon["src"]: icon["sizes"] for icon in manifest["icons"]} == {
        name: f"{width}x{width}" for name, width in ICONS.items()
    }
    for name, width in ICONS.items():
        assert struct.unpack(">II", shared_files()[name][16:24]) == (width, width)


def test_other_pages_lead_back_to_what_was_shown_in_their_language():
    assert back_address("zh", "") == "index.html#last=1&lang=zh"
    assert back_address("en", "../") == "../index.html#last=1&lang=en"


def test_the_page_of_what_was_not_opened_leads_back_in_both_languages():
    html = shared_files()["not-visited.html"].decode()
    assert html.count('href="index.html"') == len(LANGUAGES)
    assert "离线" in html
