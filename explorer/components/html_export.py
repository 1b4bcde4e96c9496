"""One HTML file that shows a trace offline: script, styles, Plotly and payload inside."""

import base64
import html
import re

from explorer.components.player.payload import View, player_payload
from explorer.components.shared.bundle import PLOTLY, script, styles
from explorer.core.i18n import LANGUAGES, say
from explorer.core.trace import Trace, check_trace

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
<script type="text/plain" id="payload">{payload}</script>
<script type="module">
{script}
</script>
<script type="text/plain" id="plotly">{plotly}</script>
</body>
</html>
"""


def html_page(
    trace: Trace, language: str = "en", view: View | None = None, *, with_plotly: bool = True
) -> str:
    """One HTML file that shows `trace` in `language`, from disk and without a network.

    view: what the player shows first.
    with_plotly: False for a frame in a page where another frame has brought plotly.js.
    """
    check_trace(trace)
    title = say(
        "player.page_title",
        language,
        source=" ".join(trace.source_tokens)[:80],
        target="?" if view is not None and view.guess else trace.text[:80],
    )
    payload = player_payload(trace, language=language, view=view)
    return _PAGE.format(
        language="zh-Hans" if language == "zh" else language if language in LANGUAGES else "en",
        title=html.escape(title),
        styles=styles("player"),
        payload=base64.b64encode(payload).decode(),
        script=_inline(script("exported_page")),
        plotly=_inline(PLOTLY.read_text(encoding="utf-8")) if with_plotly else "",
    )


def _inline(source: str) -> str:
    """`source` without anything that would end, or hide the end of, its HTML element."""
    return re.sub(r"<(?=/script|!--)", r"\\x3C", source, flags=re.IGNORECASE)
