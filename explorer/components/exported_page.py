"""What exported HTML pages have in common: the page around their data, and the data of a trace."""

import base64
import gzip
import hashlib
import html
import re
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

from explorer.components.inside.page_parts import CaptureLayer, page_parts
from explorer.components.player.heads import SMALL, HeadAddress, Unit, head_payload
from explorer.components.player.payload import View, opening_head_of
from explorer.components.shared.bundle import PLOTLY, Component, Script, script, styles
from explorer.components.site_files import (
    NOT_STARTED_STYLES,
    back_address,
    linked_plotly,
    linked_script,
    linked_styles,
    not_started,
)
from explorer.core.errors import TraceError
from explorer.core.i18n import LANGUAGES, html_language, say
from explorer.core.trace import Trace
from explorer.core.vocabulary import shorten
from explorer.core.words import has_words

LARGEST_PAGE = 10_000_000
"""Bytes of a page with a large trace, or with a lesson."""

INSIDE_OF_PAGE = "page"
"""In place of the address below which the app serves what is inside heads."""

_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
script-src {script_source}; style-src {style_source}; img-src data: blob:; \
base-uri 'none'; form-action 'none'">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
html {{ color-scheme: light dark; }}
body {{ margin: 0; --player-height: 100dvh; }}
.back {{ padding: 4px 12px; font: 14px/20px system-ui, sans-serif; }}
body:has(.back) {{ --back-height: 28px; }}
.back h1 {{ display: inline; margin: 0 0 0 12px; font: inherit; font-weight: 600; }}
@media (pointer: coarse) {{
  .back a {{ display: inline-block; padding-block: 10px; }}
  body:has(.back) {{ --back-height: 48px; }}
}}
</style>
{styles}
<style>
{more_styles}
</style>
</head>
<body>
{body}
{notice}{data}
{script}
{plotly}
</body>
</html>
"""


_NOTICE_STYLES = f"{NOT_STARTED_STYLES}#player:not(:empty) ~ #not-started {{ display: none; }}\n"
"""What is shown ends the sentence on what is not."""


def page(
    language: str,
    title: str,
    *,
    component: Component,
    more_styles: str = "",
    body: str,
    data: Sequence[str],
    run: Script,
    site: str | None = None,
    with_plotly: bool = True,
) -> str:
    """A page that asks nothing of a network or, in a site, of the files that its pages share alone.

    component, more_styles: whose style sheet applies, and what this page adds to it.
    body: its elements; `data`: those of `data_element`.
    run: the script that shows the data.
    site: the folder of the site, relative to the page; None = a page alone.
    """
    if site is None:
        files = _inside(component, run, with_plotly)
    else:
        files = _linked(component, run, site, language)
    return _PAGE.format(
        language=html_language(language),
        title=html.escape(title),
        more_styles=more_styles,
        body=body,
        data="\n".join(data),
        **files,
    )


def _inside(component: Component, run: Script, with_plotly: bool) -> dict[str, str]:
    """The elements of a page alone, and what its policy allows."""
    return {
        "script_source": "'unsafe-inline'",
        "style_source": "'unsafe-inline'",
        "styles": f"<style>\n{styles(component)}\n</style>",
        "script": f'<script type="module">\n{inline(script(run))}\n</script>',
        "plotly": plotly_element() if with_plotly else "",
        "notice": "",
    }


def _linked(component: Component, run: Script, site: str, language: str) -> dict[str, str]:
    """The elements of a page of a site, and what its policy allows."""
    return {
        "script_source": "'self'",
        "style_source": "'self' 'unsafe-inline'",
        "styles": linked_styles(component, site),
        "script": linked_script(run, site),
        "plotly": linked_plotly(site),
        "notice": f"<style>{_NOTICE_STYLES}</style>\n{not_started([language])}\n",
    }


def back_link(site: str | None, language: str, title: str = "") -> str:
    """The element that leads back to the first page of the site in the folder `site`, beside the
    title of this one; "" on a page alone."""
    if site is None:
        return ""
    address = html.escape(back_address(language, site))
    text = html.escape(say("live.back", language))
    heading = f"<h1>{html.escape(title)}</h1>" if title else ""
    return f'<div class="back"><a href="{address}">{text}</a>{heading}</div>\n'


def checked_language(language: str) -> str:
    """`language`. Raises `TraceError` on an unknown one."""
    if not isinstance(language, str) or language not in LANGUAGES:
        got, choices = shorten(str(language)), ", ".join(LANGUAGES)
        raise TraceError("bad_choice", name="language", got=got, choices=choices)
    return language


def data_element(attribute: str, data: bytes, *, compress: bool = False) -> str:
    """The element that holds `data`, found by its attribute, in base64.

    compress: with gzip.
    """
    if not compress:
        return _element(attribute, data, "")
    return _compressed(attribute, gzip.compress(data, compresslevel=SMALL, mtime=0))


def plotly_element() -> str:
    """The element that holds plotly.js, behind its licence, which stays readable."""
    source = PLOTLY.read_bytes()
    licence = source[: source.index(b"*/")].decode().strip("/* \n")
    return f"<!--\n{licence}\n-->\n" + data_element('id="plotly"', source, compress=True)


def head_elements(trace: Trace, views: Sequence[View], space: int) -> list[str]:
    """The elements with the weights of heads, in pieces and in words, as many as fit.

    views: that the page opens; their heads come first, then those near the first of them.
    space: bytes for all of them; the first head is there in any case.
    """
    units: tuple[Unit, ...] = ("pieces", "words") if has_words(trace) else ("pieces",)
    found: list[str] = []
    for site, layer, head in _nearest(trace, views):
        addresses = [HeadAddress(unit, site, layer, head) for unit in units]
        elements = [
            _compressed(f'data-head="{address}"', head_payload(trace, address, SMALL))
            for address in addresses
        ]
        space -= sum(len(element) + 1 for element in elements)
        if space < 0 and found:
            break
        found += elements
    return found


def inside_elements(
    trace: Trace, views: Sequence[View], capture: CaptureLayer, space: int
) -> list[str]:
    """The elements with what is inside the heads of `views`, as many as fit into `space` bytes.

    What each view needs first comes before the rest.
    """
    cells = {(v.site, v.layer or 0, v.head or 0): v.cell is not None for v in views}
    parts = [
        page_parts(trace, capture, str(site), layer, head, opened=opened)
        for (site, layer, head), opened in cells.items()
    ]
    found: dict[str, str] = {}
    for one in chain.from_iterable(zip_longest(*parts)):
        if one is None or one[0] in found:
            continue
        name, data = one
        element = _compressed(f'data-inside="{name}"', data)
        space -= len(element) + 1
        if space >= 0:
            found[name] = element
    return list(found.values())


def _nearest(trace: Trace, views: Sequence[View]) -> Iterator[tuple[str, int, int | None]]:
    """The heads of a trace, None = the mean of a layer: those that the page opens, then layer by
    layer the ones nearest to the first of them, at its site and at the others."""
    openings = [opening_head_of(trace, view) for view in views]
    opened = [(one["site"], one["layer"] or 0, one["head"] or 0) for one in openings]
    firsts = list(dict.fromkeys(opened))
    yield from firsts
    sites = sorted(trace.sites, key=lambda site: site != firsts[0][0])
    shapes = {site: trace.attention(site).shape[:2] for site in sites}
    deepest = max(layers for layers, _ in shapes.values())
    for layer in sorted(range(deepest), key=lambda layer: abs(layer - firsts[0][1])):
        for site, (layers, heads) in shapes.items():
            for head in (*range(heads), None) if layer < layers else ():
                if (site, layer, head) not in firsts:
                    yield site, layer, head


def _compressed(attribute: str, data: bytes) -> str:
    return _element(attribute, data, ' data-encoding="gzip"')


def _element(attribute: str, data: bytes, encoding: str) -> str:
    text = base64.b64encode(data).decode()
    return f'<script type="text/plain" {attribute}{encoding}>{text}</script>'


_LARGE_PART = re.compile(
    r'<script type="text/plain" (data-inside="[^"]*" data-encoding="gzip")>'
    r"([\w+/=]{10000,})</script>"
)


def with_parts_in_files(html: str) -> tuple[str, dict[str, bytes]]:
    """A page of a site with what is large of the inside of heads in files beside it, which other
    pages share; and these files by name, which tells their contents.

    Each is a script that runs before that of the page and gives its own element the text that it
    would have had in the page.
    """
    files: dict[str, bytes] = {}

    def linked(found: re.Match[str]) -> str:
        script = f'document.currentScript.textContent = "{found[2]}";\n'.encode()
        name = f"part-{hashlib.sha256(script).hexdigest()[:16]}.js"
        files[name] = script
        return f'<script src="{name}" {found[1]} defer></script>'

    return _LARGE_PART.sub(linked, html), files


def inline(source: str) -> str:
    """`source` without anything that would end, or hide the end of, its HTML element."""
    return re.sub(r"<(?=/script|!--)", r"\\x3C", source, flags=re.IGNORECASE)
