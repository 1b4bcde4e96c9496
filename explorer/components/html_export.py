"""The player as one HTML file that needs no network: script, styles, Plotly and trace inside."""

import base64
import html
import re

from explorer.components.player.bundle import PLOTLY, bundle, styles
from explorer.components.player.payload import View, payload
from explorer.core.i18n import LANGUAGES, say
from explorer.core.trace import Trace

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
{bundle}
mount(document.getElementById("player"), embeddedPayload(), {{ plotly: embeddedPlotly }});
</script>
<script type="text/plain" id="plotly">{plotly}</script>
</body>
</html>
"""


def page(trace: Trace, language: str = "en", view: View | None = None) -> str:
    """One HTML file that shows `trace` in `language`, from disk and with the network off.

    `view`: how it opens.
    """
    title = say(
        "player.page_title",
        language,
        source=" ".join(trace.source_tokens)[:80],
        target=trace.text[:80],
    )
    return _PAGE.format(
        language="zh-Hans" if language == "zh" else language if language in LANGUAGES else "en",
        title=html.escape(title),
        styles=styles(),
        payload=base64.b64encode(payload(trace, language=language, view=view)).decode(),
        bundle=_inline(bundle()),
        plotly=_inline(PLOTLY.read_text(encoding="utf-8")),
    )


def _inline(script: str) -> str:
    """`script` with nothing in it that would end, or hide the end of, its HTML element."""
    return re.sub(r"<(?=/script|!--)", r"\\x3C", script, flags=re.IGNORECASE)
