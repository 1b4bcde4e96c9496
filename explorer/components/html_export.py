"""One HTML file that shows a trace offline: script, styles, Plotly and payload inside.

Of a large trace the page has pictures of all heads and the weights of as many as fit, the one that
it opens with first; it says how many these are. What is inside heads it has of the layer that it
opens with.
"""

import base64
import gzip
import html
import re
from collections.abc import Iterator
from dataclasses import replace

from explorer.components.inside.page_parts import CaptureLayer, page_parts
from explorer.components.player.heads import SMALL, HeadAddress, Unit, head_payload
from explorer.components.player.payload import (
    View,
    is_large,
    opening_head_of,
    player_payload,
)
from explorer.components.shared.bundle import PLOTLY, script, styles
from explorer.core.errors import TraceError
from explorer.core.i18n import LANGUAGES, say
from explorer.core.trace import Trace, check_trace
from explorer.core.vocabulary import shorten
from explorer.core.words import has_words

LARGEST_PAGE = 10_000_000
"""Bytes of a page with a large trace."""

INSIDE_OF_PAGE = "page"
"""In place of the address below which the app serves what is inside heads."""

_GZIP = ' data-encoding="gzip"'
_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
html {{ color-scheme: light dark; }}
body {{ margin: 0; --player-height: 100dvh; }}
{styles}
</style>
</head>
<body>
<main id="player"></main>
<script type="text/plain" id="payload"{encoding}>{payload}</script>
{inside}
{heads}
<script type="module">
{script}
</script>
<script type="text/plain" id="plotly">{plotly}</script>
</body>
</html>
"""


def html_page(
    trace: Trace,
    language: str = "en",
    view: View | None = None,
    *,
    with_plotly: bool = True,
    capture: CaptureLayer | None = None,
) -> str:
    """One HTML file that shows `trace` in `language`, from disk and without a network.

    view: what the player shows first.
    with_plotly: False for a frame in a page where another frame has brought plotly.js.
    capture: by which the page gets what is inside the layer that it opens with; None = nothing.

    Raises `TraceError` on what is no trace, and on an unknown language.
    """
    check_trace(trace)
    if not isinstance(language, str) or language not in LANGUAGES:
        got, choices = shorten(str(language)), ", ".join(LANGUAGES)
        raise TraceError("bad_choice", name="language", got=got, choices=choices)
    title = say(
        "player.page_title",
        language,
        source=" ".join(trace.source_tokens)[:80],
        target="?" if view is not None and view.guess else trace.text[:80],
    )
    shown = view or View()
    parts = {
        "language": "zh-Hans" if language == "zh" else language,
        "title": html.escape(title),
        "styles": styles("player"),
        "script": _inline(script("exported_page")),
        "plotly": _inline(PLOTLY.read_text(encoding="utf-8")) if with_plotly else "",
    }
    large = is_large(trace)
    if capture is not None:
        shown = replace(shown, **opening_head_of(trace, shown))
    inside = list(_inside(trace, shown, capture)) if capture is not None else []
    parts["inside"] = "\n".join(inside)
    payload = player_payload(
        trace,
        language=language,
        view=shown,
        heads="",
        inside=INSIDE_OF_PAGE if inside else None,
    )
    if large:
        payload = gzip.compress(payload, compresslevel=SMALL, mtime=0)
    parts |= {"encoding": _GZIP if large else "", "payload": _base64(payload)}
    space = LARGEST_PAGE - sum(len(part.encode()) for part in (_PAGE, *parts.values()))
    return _PAGE.format(**parts, heads="\n".join(_heads(trace, shown, space)) if large else "")


def _heads(trace: Trace, view: View, space: int) -> list[str]:
    """The elements with the weights of heads, in pieces and in words, as many as fit.

    space: bytes for all of them; the first head is there in any case.
    """
    units: tuple[Unit, ...] = ("pieces", "words") if has_words(trace) else ("pieces",)
    found: list[str] = []
    for site, layer, head in _nearest(trace, view):
        elements = [_element(trace, HeadAddress(unit, site, layer, head)) for unit in units]
        space -= sum(len(element) + 1 for element in elements)
        if space < 0 and found:
            break
        found += elements
    return found


def _inside(trace: Trace, view: View, capture: CaptureLayer) -> Iterator[str]:
    """The elements with what is inside heads, as many as fit into half a page."""
    site, layer, head = str(view.site), view.layer or 0, view.head or 0
    space = LARGEST_PAGE // 2
    opened = view.cell is not None
    for name, data in page_parts(trace, capture, site, layer, head, opened=opened):
        element = f'<script type="text/plain" data-inside="{name}"{_GZIP}>{_base64(data)}</script>'
        space -= len(element) + 1
        if space >= 0:
            yield element


def _nearest(trace: Trace, view: View) -> Iterator[tuple[str, int, int | None]]:
    """The heads of a trace, None = the mean of a layer: the one that the page opens with, then
    layer by layer the nearest ones, at its site and at the others."""
    opening = opening_head_of(trace, view)
    first = opening["site"], opening["layer"] or 0, opening["head"] or 0
    yield first
    sites = sorted(trace.sites, key=lambda site: site != first[0])
    shapes = {site: trace.attention(site).shape[:2] for site in sites}
    deepest = max(layers for layers, _ in shapes.values())
    for layer in sorted(range(deepest), key=lambda layer: abs(layer - first[1])):
        for site, (layers, heads) in shapes.items():
            for head in (*range(heads), None) if layer < layers else ():
                if (site, layer, head) != first:
                    yield site, layer, head


def _element(trace: Trace, address: HeadAddress) -> str:
    data = _base64(head_payload(trace, address, SMALL))
    return f'<script type="text/plain" data-head="{address}"{_GZIP}>{data}</script>'


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _inline(source: str) -> str:
    """`source` without anything that would end, or hide the end of, its HTML element."""
    return re.sub(r"<(?=/script|!--)", r"\\x3C", source, flags=re.IGNORECASE)
