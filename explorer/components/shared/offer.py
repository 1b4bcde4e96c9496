"""What a page tells the browser that it can ask about a trace."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Offer:
    """What a browser can ask about a trace.

    address: below which it asks, relative to the page; "" where no server answers.
    names: of `components.resources`.
    """

    address: str = ""
    names: tuple[str, ...] = ()

    def only(self, *names: str) -> "Offer":
        """The part of this offer that a component shows."""
        return Offer(self.address, tuple(name for name in self.names if name in names))


NOTHING = Offer()
