"""The shared state of a class: the host's screen, the question to guess, votes, who is present.

All of it is in memory and anonymous: a guest is a random word that this server made. Used in the
server's event loop alone, so nothing is locked.
"""

import secrets
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from explorer.app.server.rate_limit import network_of

MOST_STREAMS = 600
MOST_OF_ADDRESS = 150
"""Event streams, and those of one network address: a school may have one, and each visible tab
has one stream."""

MOST_GUESTS = 4096
"""Guests that are remembered, those seen last."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to guess: the next token of the host's text, where a head looks, or what the card
    of a lesson asks.

    tokens: the last of the known tokens.
    candidates: choices: tokens of the vocabulary, in an order that reveals nothing, unmasked keys,
        or the choices of a card.
    answer: index of the right one, len(candidates) if none of them is right; None until the host
        reveals it.
    kind: "token", "key" for where a head looks, or "card".
    head: the name of that head; "" for a token.
    positions: of the keys, from 0; () for a token.
    prompt: what a card asks; "" for the others, which each page asks in its own language.
    """

    tokens: tuple[str, ...]
    candidates: tuple[str, ...]
    answer: int | None = None
    kind: str = "token"
    head: str = ""
    positions: tuple[int, ...] = ()
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Screen:
    """The screen that the host's page publishes.

    view: the view that guests mirror, read only by their pages; None while the host leads nobody.
    question: None while nothing is guessed.
    page: the word that identifies that page; "" = it has no stream.
    """

    view: Mapping[str, Any] | None = None
    question: Question | None = None
    page: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing for guests."""
        return self.view is None and self.question is None


@dataclass(slots=True, eq=False)
class Seat:
    """One event stream.

    wake: called whenever its `message` has changed.
    page: the word that identifies a tab, also after a reload.
    """

    guest: str
    address: str
    host: bool
    wake: Callable[[], None]
    page: str = ""


@dataclass(slots=True)
class _Tally:
    right: int = 0
    total: int = 0


@dataclass(slots=True)
class ClassSession:
    """The class of this server.

    ended: whether the server is shutting down, so that streams must end.
    """

    ended: bool = False
    _screen: Screen = field(default_factory=Screen)
    _number: int = 0  # of the question
    _votes: dict[str, int] = field(default_factory=dict)  # guest → index of a candidate
    _tallies: OrderedDict[str, _Tally] = field(default_factory=OrderedDict)
    _seats: set[Seat] = field(default_factory=set)
    _left: Seat | None = None  # of a host, the last one that ended
    _away: bool = False  # from the loss of a host until one shows something

    def admit(self, guest: str) -> str:
        """`guest` if this server made that word, else a new one. With too many guests, those seen
        longest ago are forgotten, except guests with an open stream."""
        if guest not in self._tallies:
            guest = secrets.token_urlsafe(18)
            self._tallies[guest] = _Tally()
        self._tallies.move_to_end(guest)
        present = {seat.guest for seat in self._seats}
        while len(self._tallies) > MOST_GUESTS:
            gone = next((one for one in self._tallies if one not in present), guest)
            if gone == guest:  # all others are present
                break
            del self._tallies[gone]
            self._votes.pop(gone, None)
        return guest

    def has_room(self, address: str) -> bool:
        """Whether one more stream may be opened from a network address."""
        own = sum(network_of(seat.address) == network_of(address) for seat in self._seats)
        return not self.ended and len(self._seats) < MOST_STREAMS and own < MOST_OF_ADDRESS

    def join(self, seat: Seat) -> None:
        """Count the guest of a stream that has been opened as present."""
        self._seats.add(seat)
        self._tallies.setdefault(seat.guest, _Tally())  # forgotten since it was admitted
        self._wake_all()

    def leave(self, seat: Seat) -> None:
        """Forget a stream that has ended."""
        self._seats.discard(seat)
        if seat.host:
            self._left = seat
        self._wake_all()

    def miss(self, host: Seat) -> None:
        """Let guests go on without a host, some time after a host's stream has ended, and close the
        question. If the host has another tab, that one leads, unless the leading tab is back. Does
        nothing if another stream of a host has ended since.
        """
        if host is not self._left:
            return
        pages = {seat.page for seat in self._seats if seat.host}
        if pages:
            if self._screen.page not in pages:
                self.lead("")
            return
        self._away = True
        self._screen = replace(self._screen, question=None, page="")
        self._votes.clear()
        self._wake_all()

    def end(self) -> None:
        """End all streams: the server shuts down."""
        self.ended = True
        self._wake_all()

    def is_led_elsewhere(self, page: str) -> bool:
        """Whether another tab than `page` leads. The first tab that shows something leads, until it
        is closed, shows nothing more or hands over."""
        return not self._screen.is_empty and self._screen.page not in ("", page)

    def lead(self, page: str) -> None:
        """Let the tab `page` lead from now on; "" = any."""
        self._screen = replace(self._screen, page=page)
        self._wake_all()

    def show(self, screen: Screen) -> None:
        """Take the host's present screen. Votes on an earlier question are cleared."""
        before, now = self._screen.question, screen.question
        if not _same(before, now):
            self._votes.clear()
            self._number += 1
        if now and now.answer is not None and not (_same(before, now) and _revealed(before)):
            self._count(now.answer)
        self._screen = screen
        self._away = False
        self._wake_all()

    def vote(self, guest: str, number: int, choice: int) -> bool:
        """Take a guest's vote, replacing an earlier one. Returns whether it counts.

        A vote counts if it names a candidate of the question on screen, before the reveal, and if
        the guest's stream is open.
        """
        question = self._screen.question
        if question is None or question.answer is not None or number != self._number:
            return False
        present = any(seat.guest == guest and not seat.host for seat in self._seats)
        if not present or not 0 <= choice < len(question.candidates):
            return False
        if self._votes.get(guest) != choice:
            self._votes[guest] = choice
            self._wake_all()
        return True

    def message(self, seat: Seat) -> dict[str, Any]:
        """Present state for the page of a stream. Guests see the others' votes after the reveal."""
        present = {one.guest for one in self._seats if not one.host}
        tally = self._tallies.get(seat.guest) or _Tally()
        return {
            "host": seat.host,
            "present": len(present),
            "away": self._away,
            "elsewhere": seat.host and self.is_led_elsewhere(seat.page),
            "view": self._screen.view,
            "question": self._question(seat, present),
            "right": tally.right,
            "total": tally.total,
        }

    def _question(self, seat: Seat, present: set[str]) -> dict[str, Any] | None:
        question = self._screen.question
        if question is None:
            return None
        counts = Counter(self._votes.values())
        told = seat.host or question.answer is not None
        return {
            "number": self._number,
            **asdict(question),
            "answered": len(self._votes),
            "asked": len(present | self._votes.keys()),
            "counts": [counts[index] for index in range(len(question.candidates))]
            if told
            else None,
            "choice": self._votes.get(seat.guest),
        }

    def _count(self, answer: int) -> None:
        for guest, choice in self._votes.items():
            tally = self._tallies[guest]
            tally.total += 1
            tally.right += choice == answer

    def _wake_all(self) -> None:
        for seat in self._seats:
            seat.wake()


def _same(one: Question | None, other: Question | None) -> bool:
    """Whether two are one question, before or after its reveal. A question that is hidden again is
    another one."""
    if one is None or other is None:
        return one is other
    hidden_again = _revealed(one) and not _revealed(other)
    return replace(one, answer=None) == replace(other, answer=None) and not hidden_again


def _revealed(question: Question | None) -> bool:
    return question is not None and question.answer is not None
