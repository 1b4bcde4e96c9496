"""Questions about a trace that a page offers to the browser."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Offer:
    """Questions that a browser can ask about a trace.

    address: base address of the questions, relative to the page; "" if no server answers.
    names: of `components.resources`.
    """

    address: str = ""
    names: tuple[str, ...] = ()

    def only(self, *names: str) -> "Offer":
        """The part of this offer that a component shows."""
        return Offer(self.address, tuple(name for name in self.names if name in names))


NOTHING = Offer()
