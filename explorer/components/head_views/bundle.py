"""The gallery's JavaScript, one module for each of its rooms, on top of the player's own parts.

Every map is drawn by what the player is made of, so all pages speak one visual language.
"""

from functools import cache
from pathlib import Path
from typing import Literal

from explorer.components.player import styles as player_styles
from explorer.components.player.bundle import SCRIPTS as PLAYER_SCRIPTS

Room = Literal["overview", "twin", "matrix"]

SHARED = ("parcel", "diverging", "frame", "stand", "choice", "verdict", "field")
ROOMS: dict[Room, tuple[str, ...]] = {
    "overview": ("order", "card", "wall", "overview"),
    "twin": ("lock", "outputs", "twin"),
    "matrix": ("matrix",),
}
SHEETS = ("layout", "wall", "field", "twin", "matrix")

_HERE = Path(__file__).parent
_PLAYER = _HERE.parent / "player" / "js"


@cache
def bundle(room: Room) -> str:
    """One ES module: `default` is the entry of a Streamlit component."""
    parts = [_PLAYER / f"{name}.js" for name in PLAYER_SCRIPTS if name != "entry"]
    parts += [_HERE / "js" / f"{name}.js" for name in (*SHARED, *ROOMS[room], "entry")]
    return "\n".join(part.read_text(encoding="utf-8") for part in parts)


@cache
def styles() -> str:
    """One style sheet for every room."""
    own = (_HERE / "css" / f"{name}.css" for name in SHEETS)
    return "\n".join([player_styles(), *(sheet.read_text(encoding="utf-8") for sheet in own)])
