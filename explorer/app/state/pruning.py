"""State of the pruning section of Heads: the curves on screen."""

from dataclasses import dataclass

from explorer.app.state import session


@dataclass(frozen=True, slots=True)
class PruningState:
    """shown: key of the curves on screen; None = the newest."""

    shown: str | None = None


def shown_key() -> str | None:
    """The key of the curves on screen; None = the newest."""
    return session.load(PruningState).shown


def show(key: str) -> None:
    """Show the curves with this key."""
    session.save(PruningState(key))
