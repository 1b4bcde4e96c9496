"""One HTML file that shows a trace offline: script, styles, Plotly and payload inside.

Of a large trace the page has pictures of all heads and the weights of as many as fit, the one that
it opens with first; it says how many these are. What is inside heads it has of the layer that it
opens with.
"""

from dataclasses import replace

from explorer.components.exported_page import (
    INSIDE_OF_PAGE,
    LARGEST_PAGE,
    checked_language,
    data_element,
    head_elements,
    inside_elements,
    page,
)
from explorer.components.inside.page_parts import CaptureLayer
from explorer.components.player.payload import (
    View,
    is_large,
    opening_head_of,
    player_payload,
)
from explorer.core.i18n import say
from explorer.core.trace import Trace, check_trace


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
    language = checked_language(language)
    shown, large = view or View(), is_large(trace)
    inside: list[str] = []
    if capture is not None:
        shown = replace(shown, **opening_head_of(trace, shown))
        inside = inside_elements(trace, [shown], capture, LARGEST_PAGE // 2)
    payload = player_payload(
        trace,
        language=language,
        view=shown,
        heads="",
        inside=INSIDE_OF_PAGE if inside else None,
    )

    def with_heads(heads: list[str]) -> str:
        return page(
            language,
            say(
                "player.page_title",
                language,
                source=" ".join(trace.source_tokens)[:80],
                target="?" if view is not None and view.guess else trace.text[:80],
            ),
            component="player",
            body='<main id="player"></main>',
            data=[data_element('id="payload"', payload, compress=True), *inside, *heads],
            run="exported_page",
            with_plotly=with_plotly,
        )

    alone = with_heads([])
    if not large:
        return alone
    return with_heads(head_elements(trace, [shown], LARGEST_PAGE - len(alone.encode())))
