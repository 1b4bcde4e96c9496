"""One HTML file that shows a trace offline: script, styles, Plotly and payload inside.

For a large trace, the page has pictures of all heads and the weights of as many as fit, starting
with its initial head; it says how many these are. It has the inside of heads for its initial layer.
"""

import html
from collections.abc import Sequence
from dataclasses import replace

from explorer.components.exported_page import (
    LARGEST_PAGE,
    checked_language,
    data_element,
    page,
    trace_elements,
)
from explorer.components.player.payload import Offer, View, initial_head_of, player_payload
from explorer.components.trace_questions import AskedModel
from explorer.core.i18n import say
from explorer.core.trace import Trace, check_trace
from explorer.core.word_segmentation import is_special
from explorer.core.words import source_words

_LONGEST = 80
"""Most characters of each text in a title."""


def html_page(
    trace: Trace,
    language: str = "en",
    view: View | None = None,
    *,
    with_plotly: bool = True,
    model: AskedModel | None = None,
    files: str | None = None,
    largest: int = LARGEST_PAGE,
) -> str:
    """One HTML file that shows `trace` in `language`, from disk and without a network.

    view: initial view of the player.
    with_plotly: False for a frame in a page where another frame has loaded plotly.js.
    model: of `trace`, for the inside of the initial layer; None = the page has nothing of it.
    files: folder of the bundled scripts and style sheets, relative to the page; None = they are in
        the page.
    largest: bytes of the page; answers about the trace that would exceed them are left out.

    Raises `TraceError` if `trace` is not a trace, and on an unknown language.
    """
    check_trace(trace)
    language = checked_language(language)
    shown = view or View()
    title = _title(trace, language, guessed=bool(shown.guess))

    def with_data(data: Sequence[str]) -> str:
        return page(
            language,
            title,
            component="player",
            body=f'<h1 class="unseen">{html.escape(title)}</h1>\n<main id="player"></main>',
            data=data,
            run="exported_page",
            static_site=files,
            with_plotly=with_plotly,
        )

    def payload(offer: Offer) -> str:
        seen = replace(shown, **initial_head_of(trace, shown)) if offer.names else shown
        data = player_payload(trace, language=language, view=seen, offer=offer)
        return data_element('id="payload"', data, compress=True)

    space = largest - len(with_data([]).encode())
    return with_data(trace_elements(trace, [shown], model, payload, space))


def _title(trace: Trace, language: str, *, guessed: bool) -> str:
    """Both texts, in words; without the output if it is guessed."""
    words = [word.label for word in source_words(trace) if not is_special(word.label)]
    target = "?" if guessed else trace.text[:_LONGEST]
    return say("player.page_title", language, source=" ".join(words)[:_LONGEST], target=target)
