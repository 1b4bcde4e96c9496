"""The time-lapse's JavaScript as one module, on top of the player's own parts.

The probe is drawn by the very parts the player is made of, so both speak one visual language;
only the player's entry is left out, because a module has one.
"""

from functools import cache
from pathlib import Path

from explorer.components.player import styles as player_styles
from explorer.components.player.bundle import SCRIPTS as PLAYER_SCRIPTS

SCRIPTS = (
    "reel",
    "progress",
    "panels",
    "figure",
    "curves",
    "heads",
    "samples",
    "gold",
    "probe",
    "drawer",
    "slider",
    "timelapse",
    "entry",
)
SHEETS = ("layout", "curves", "samples", "slider")

_HERE = Path(__file__).parent
_PLAYER = _HERE.parent / "player" / "js"


@cache
def bundle() -> str:
    """One ES module whose `default` is the entry of a Streamlit component."""
    parts = [_PLAYER / f"{name}.js" for name in PLAYER_SCRIPTS if name != "entry"]
    parts += [_HERE / "js" / f"{name}.js" for name in SCRIPTS]
    return "\n".join(part.read_text(encoding="utf-8") for part in parts)


@cache
def styles() -> str:
    """One style sheet for the component's shadow root."""
    own = (_HERE / "css" / f"{name}.css" for name in SHEETS)
    return "\n".join([player_styles(), *(sheet.read_text(encoding="utf-8") for sheet in own)])
