"""Common parts of exported HTML pages: the page around their data, and the data of a trace."""

import base64
import gzip
import hashlib
import html
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from explorer.components.bundle import PLOTLY, Script, Sheet, script, styles
from explorer.components.player.payload import Offer, View, initial_head_of
from explorer.components.static_site_files import (
    NOT_STARTED_STYLES,
    back_address,
    linked_plotly,
    linked_script,
    linked_styles,
    not_started,
)
from explorer.components.trace_questions import TRACE_QUESTIONS, AskedModel, TraceQuestion, offered
from explorer.core.errors import ExplorerError, TraceError
from explorer.core.i18n import LANGUAGES, html_language, say
from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.core.vocabulary import shorten

LARGEST_PAGE = 10_000_000
"""Most bytes of a page with a large trace, or with a lesson."""

_SMALL = 6  # level of compression, for saved data
_ATTRIBUTE = "data-resource"  # of an element with an answer about a trace: name and place

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
.unseen {{ position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }}
.back {{ padding: 4px 12px; font: 14px/20px system-ui, sans-serif; }}
body:has(.back) {{ --back-height: 28px; }}
.back h1 {{ display: inline; margin: 0 0 0 12px; font: inherit; font-weight: 600; }}
@media (pointer: coarse) {{
  .back a {{ display: inline-block; padding-block: 12px; }}
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
{plotly}
{script}
</body>
</html>
"""

_TRAINS = " 'wasm-unsafe-eval'; worker-src blob:; connect-src 'self'"
"""What the policy of a page that trains allows besides: WebAssembly, in a worker, and messages to
the class."""

_NOTICE_STYLES = f"{NOT_STARTED_STYLES}#player:not(:empty) ~ #not-started {{ display: none; }}\n"
"""Hide the notice once the player has content."""


def page(
    language: str,
    title: str,
    *,
    component: Sheet,
    more_styles: str = "",
    body: str,
    data: Sequence[str],
    run: Script,
    static_site: str | None = None,
    with_plotly: bool = True,
    trains: bool = False,
) -> str:
    """A page that loads nothing from a network, or a page beside a folder with scripts and style
    sheets, as those of the static site.

    component, more_styles: component whose style sheet applies, and additions to it.
    body: its elements; `data`: those of `data_element`.
    run: the script that shows the data.
    static_site: that folder, relative to the page; None = a page alone.
    trains: whether a page of the static site can train a model, in a worker.
    """
    if static_site is None:
        files = _inside(component, run, with_plotly)
    else:
        files = _linked(component, run, static_site, language)
    if trains:
        files["script_source"] += _TRAINS
    return _PAGE.format(
        language=html_language(language),
        title=html.escape(title),
        more_styles=more_styles,
        body=body,
        data="\n".join(data),
        **files,
    )


def _inside(component: Sheet, run: Script, with_plotly: bool) -> dict[str, str]:
    """Elements of a page alone, and the sources its policy allows."""
    return {
        "script_source": "'unsafe-inline'",
        "style_source": "'unsafe-inline'",
        "styles": f"<style>\n{styles(component)}\n</style>",
        "script": f"<script>\n{inline(script(run))}\n</script>",
        "plotly": plotly_element() if with_plotly else "",
        "notice": "",
    }


def _linked(component: Sheet, run: Script, static_site: str, language: str) -> dict[str, str]:
    """Elements of a page of the static site, and the sources its policy allows."""
    return {
        "script_source": "'self'",
        "style_source": "'self' 'unsafe-inline'",
        "styles": linked_styles(component, static_site),
        "script": linked_script(run, static_site),
        "plotly": linked_plotly(static_site),
        "notice": f"<style>{_NOTICE_STYLES}</style>\n{not_started([language])}\n",
    }


def back_link(static_site: str | None, language: str, title: str = "") -> str:
    """The element with the link back to the first page in the folder `static_site`, beside the
    title of this page; "" on a page alone."""
    if static_site is None:
        return ""
    address = html.escape(back_address(language, static_site))
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
    encoding = ""
    if compress:
        data, encoding = gzip.compress(data, compresslevel=_SMALL, mtime=0), ' data-encoding="gzip"'
    text = base64.b64encode(data).decode()
    return f'<script type="text/plain" {attribute}{encoding}>{text}</script>'


def plotly_element() -> str:
    """The element that holds plotly.js, behind its licence, which stays readable."""
    source = PLOTLY.read_bytes()
    licence = source[: source.index(b"*/")].decode().strip("/* \n")
    return f"<!--\n{licence}\n-->\n" + data_element('id="plotly"', source, compress=True)


def trace_elements(
    trace: Trace,
    views: Sequence[View],
    model: AskedModel | None,
    payload: Callable[[Offer], str],
    space: int,
) -> list[str]:
    """The elements with all data of a trace on a page: its payload, and as many answers about it as
    fit. Answers that a view needs first come before the rest.

    views: the initial views of the page.
    payload: makes the element with the payload, given the offer of the page.
    space: bytes for all elements; the first answers are there in any case.
    """
    asked = [one for one in offered(trace, model) if one.near]
    element = payload(_offer(asked))
    initial_heads = _initial_heads(trace, views) if asked else {}
    looked_into = {head: True for head, opened in initial_heads.items() if opened} or initial_heads
    found: dict[str, str] = {}
    streams = deque(
        _answers_near(question, trace, model, head, opened, found)
        for question in asked
        for head, opened in (looked_into if question.asks_model else initial_heads).items()
    )
    space -= len(element) + 1
    while streams:
        answers = next(streams[0], {})
        size = sum(len(answer) + 1 for answer in answers.values())
        if answers and (size <= space or not found):
            space -= size
            found |= answers
            streams.rotate(-1)
        else:
            streams.popleft()
    held = [one for one in asked if not one.asks_model or _has_computed(found)]
    if held != asked:  # the model refused all of them
        element = payload(_offer(held))
    return [element, *found.values()]


def _offer(asked: Sequence[TraceQuestion]) -> Offer:
    return Offer(names=tuple(one.name for one in asked))


def _has_computed(found: Iterable[str]) -> bool:
    """Whether any of the answers with these names needed the model."""
    return any(TRACE_QUESTIONS[name.partition("/")[0]].asks_model for name in found)


def _initial_heads(trace: Trace, views: Sequence[View]) -> dict[Head, bool]:
    """The initial heads of the views, and whether the panel *Inside* is open there."""
    initial_heads: dict[Head, bool] = {}
    for view in views:
        one = initial_head_of(trace, view)
        head = Head(one["site"], one["layer"] or 0, one["head"] or 0)
        initial_heads[head] = initial_heads.get(head, False) or view.cell is not None
    return initial_heads


def _answers_near(
    question: TraceQuestion,
    trace: Trace,
    model: AskedModel | None,
    head: Head,
    opened: bool,
    found: Mapping[str, str],
) -> Iterator[dict[str, str]]:
    """Elements with answers that are useful together, by name, without those the page already has.
    Ends if the model refuses one, such as a trace that would be too large."""
    assert question.near is not None
    for places in question.near(trace, head, opened):
        missing = {question.address(place): place for place in places}
        missing = {name: place for name, place in missing.items() if name not in found}
        if not missing:
            continue
        try:
            yield {
                name: data_element(
                    f'{_ATTRIBUTE}="{name}"', question.answer(trace, model, place), compress=True
                )
                for name, place in missing.items()
            }
        except ExplorerError:
            return


_LARGE_PART = re.compile(
    rf'<script type="text/plain" ({_ATTRIBUTE}="[^"]*" data-encoding="gzip")>'
    rf"([\w+/=]{{10000,}})</script>"
)


def with_parts_in_files(html: str) -> tuple[str, dict[str, bytes]]:
    """A page of the static site with large answers about traces moved to files beside it that other
    pages share, and these files by name. A name is a hash of the file's contents.

    Each file is a script that runs before that of the page and gives its own element the text it
    would have in the page.
    """
    files: dict[str, bytes] = {}

    def linked(found: re.Match[str]) -> str:
        script = f'document.currentScript.textContent = "{found[2]}";\n'.encode()
        name = f"part-{hashlib.sha256(script).hexdigest()[:16]}.js"
        files[name] = script
        return f'<script src="{name}" {found[1]} defer></script>'

    return _LARGE_PART.sub(linked, html), files


def inline(source: str) -> str:
    """`source` with each `</script` and `<!--` escaped, so that it cannot end or hide the end of
    its HTML element."""
    return re.sub(r"<(?=/script|!--)", r"\\x3C", source, flags=re.IGNORECASE)
