"""Shared files of the static site's pages: scripts, styles, plotly.js, files for offline use.

A page requests them with the version of the static site in the address, so that its service worker
never answers with those of another version.
"""

import hashlib
import html
import json
from collections.abc import Collection, Mapping
from functools import cache

from explorer.components.bundle import PLOTLY, Script, Sheet, script, styles
from explorer.core import folders
from explorer.core.i18n import LANGUAGES, say

FIRST_PAGE = "index.html"

LAST_SHOWN = "last"
"""In the address of the first page: show what that page showed last."""

PLOTLY_NAME = "plotly.min.js"
ICONS = {"icon-192.png": 192, "icon-512.png": 512}
"""Width in pixels."""

_ICONS = folders.PACKAGE / "components" / "live"

_SCRIPTS: tuple[Script, ...] = ("live", "live_training", "live_trainer", "exported_lesson")
_STYLES: tuple[Sheet, ...] = ("live", "player", "live_training")
"""Of the first page, of the lessons and of the trainings."""

NOT_STARTED_STYLES = """
#not-started { padding: 0 12px; visibility: hidden; animation: seen 0s 5s forwards; }
@keyframes seen { to { visibility: visible; } }
"""
"""After these 5 seconds, a page whose script has not run shows a notice."""

_NOT_VISITED_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
html {{ color-scheme: light dark; }}
body {{ margin: 16px; font: 16px / 1.5 system-ui, sans-serif; }}
a {{ display: inline-block; padding: 8px 0; }}
</style>
</head>
<body>
{sentences}
</body>
</html>
"""


@cache
def shared_files() -> Mapping[str, bytes]:
    """Contents of the files by name; `serviceWorker.ts` has the same names."""
    worker = f'self.staticSiteVersion = "{version()}";\n{script("live_service_worker")}'
    return {**_versioned_files(), "service-worker.js": worker.encode()}


@cache
def _versioned_files() -> Mapping[str, bytes]:
    return {
        **{f"{name}.js": script(name).encode() for name in _SCRIPTS},
        **{f"{name}.css": styles(name).encode() for name in _STYLES},
        PLOTLY_NAME: PLOTLY.read_bytes(),
        "not-visited.html": _not_visited_page().encode(),
        "app.webmanifest": _manifest().encode(),
        **{name: (_ICONS / name).read_bytes() for name in ICONS},
    }


def version_of(files: Mapping[str, bytes]) -> str:
    """Version that distinguishes these files from those of another version."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name} {len(files[name])}\n".encode() + files[name])
    return digest.hexdigest()[:16]


@cache
def version() -> str:
    """The version of the static site that this package writes."""
    return version_of({**_versioned_files(), "": script("live_service_worker").encode()})


def linked_styles(name: Sheet, static_site: str) -> str:
    """The element that applies a style sheet; `static_site`: its folder, relative to the page."""
    return f'<link rel="stylesheet" href="{_address(f"{name}.css", static_site)}">'


def linked_script(name: Script, static_site: str) -> str:
    """The element that runs a script once the page is read."""
    return f'<script src="{_address(f"{name}.js", static_site)}" defer></script>'


def linked_plotly(static_site: str) -> str:
    """The element with which the page's script loads plotly.js after the first picture."""
    return _named(PLOTLY_NAME, "plotly", static_site)


def linked_trainer(static_site: str) -> str:
    """The element with which the page's script loads the trainer once a training is started."""
    return _named("live_trainer.js", "trainer", static_site)


def not_started(languages: Collection[str]) -> str:
    """Notice of a page whose script is switched off, missing or cut off, in these languages."""
    no_script, sentence = (
        " ".join(html.escape(say(key, language)) for language in languages)
        for key in ("live.no_script", "live.not_started")
    )
    return (
        f"<noscript><style>#not-started {{ display: none; }}</style>{no_script}</noscript>\n"
        f'<p id="not-started">{sentence}</p>'
    )


def back_address(language: str, static_site: str) -> str:
    """Address of the first page, with the view it showed last, or else in this language;
    `pageAddress.ts` reads the same fragment."""
    return f"{static_site}{FIRST_PAGE}#{LAST_SHOWN}=1&lang={language}"


def _named(name: str, element: str, static_site: str) -> str:
    """The element that names a file, which the page's script loads when it needs it."""
    address = _address(name, static_site)
    return f'<script type="text/plain" id="{element}" data-src="{address}"></script>'


def _address(name: str, static_site: str) -> str:
    return f"{static_site}{name}?{version()}"


def _not_visited_page() -> str:
    """Offline substitute for a page of the static site that was not visited before."""
    sentences = (
        f'<p lang="{language}">{html.escape(say("live.not_visited", language))}<br>'
        f'<a href="{FIRST_PAGE}">{html.escape(say("live.back", language))}</a></p>'
        for language in LANGUAGES
    )
    title = html.escape(say("live.page_title"))
    return _NOT_VISITED_PAGE.format(title=title, sentences="\n".join(sentences))


def _manifest() -> str:
    """Web app manifest: a served static site installs as an app, with its own window and icon."""
    icons = [
        {"src": name, "sizes": f"{size}x{size}", "type": "image/png", "purpose": "any maskable"}
        for name, size in ICONS.items()
    ]
    title = say("live.page_title")
    colours = {"background_color": "#ffffff", "theme_color": "#14477f"}
    start = {"id": "./", "start_url": "./", "scope": "./", "display": "standalone"}
    return json.dumps({"name": title, "short_name": title, **start, **colours, "icons": icons})
