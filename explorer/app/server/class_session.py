"""The shared state of a class: the host's screen, the question to guess, votes, who is present, and
the curves of trainings that guests share.

All of it is in memory and anonymous: a guest is a random word that this server made. Used in the
server's event loop alone, so nothing is locked but the curves, which a page of the host clears.
"""

import json
import secrets
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from threading import Lock
from typing import Any

from explorer.app.server import guest_limits
from explorer.app.server.rate_limit import network_of
from explorer.components.class_curves_figure import Curve

MOST_STREAMS = 600
"""Event streams; each visible tab has one. A factor of `guest_limits` raises it."""

MOST_GUESTS = guest_limits.LARGEST
"""Guests that are remembered, those seen last."""

MOST_CARDS = 100
"""Cards whose votes were counted that are remembered, those counted last."""

MOST_CURVES = 300
"""Trainings whose curves are kept: those heard of last, and those that have finished before others.
A factor of `guest_limits` raises it."""


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

    page: the word that identifies a tab, also after a reload.
    """

    guest: str
    address: str
    host: bool
    page: str = ""


@dataclass(slots=True)
class _Tally:
    right: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class _Vote:
    """choice: index of a candidate. network: the group of visitors it came from."""

    choice: int
    network: str


@dataclass(frozen=True, slots=True)
class _SharedCurve:
    """network: the group of visitors it came from."""

    curve: Curve
    network: str


def _nobody(by_guest: bool) -> None:
    """Tell nobody of a change."""


@dataclass(slots=True)
class ClassSession:
    """The class of this server.

    tell: called whenever messages have changed, with whether a guest changed them.
    ended: whether the server is shutting down, so that streams must end.
    version: number of the changes so far.
    curves: what guests share of their trainings, by the word that each training has. It is replaced
        as a whole, because the pages of the host read it in threads of their own.
    """

    tell: Callable[[bool], None] = _nobody
    ended: bool = False
    version: int = 0
    curves: Mapping[str, Curve] = field(default_factory=dict)
    _screen: Screen = field(default_factory=Screen)
    _number: int = 0  # of the question
    _cards: dict[Question, set[str]] = field(default_factory=dict)  # guests counted for each card
    _votes: dict[str, _Vote] = field(default_factory=dict)  # by guest
    _tallies: OrderedDict[str, _Tally] = field(default_factory=OrderedDict)
    _seats: set[Seat] = field(default_factory=set)
    _left: Seat | None = None  # of a host, the last one that ended
    _away: bool = False  # from the loss of a host until one shows something
    _shared: dict[str, _SharedCurve] = field(default_factory=dict)  # heard of last: at the end
    _changing_curves: Lock = field(default_factory=Lock)
    _written: tuple[int, bytes] = (-1, b"")  # a version, and what all guests are told in it

    @property
    def shown_trace(self) -> str:
        """The key of the trace that guests see on the host's screen; "" = none."""
        return str((self._screen.view or {}).get("trace", ""))

    @property
    def shown_training(self) -> Mapping[str, Any] | None:
        """The training that guests see on the host's screen; see `class_messages`."""
        return (self._screen.view or {}).get("training")

    def admit(self, guest: str) -> str:
        """`guest` if this server made that word, else a new one.

        With too many guests, those seen longest ago are forgotten, except guests with an open
        stream; first of all those who never voted.
        """
        if guest not in self._tallies:
            guest = secrets.token_urlsafe(18)
            self._tallies[guest] = _Tally()
        self._tallies.move_to_end(guest)
        while len(self._tallies) > MOST_GUESTS and (gone := self._forgettable(guest)):
            del self._tallies[gone]
            self._votes.pop(gone, None)
            for counted in self._cards.values():
                counted.discard(gone)
        return guest

    def _forgettable(self, newest: str) -> str:
        """The guest to forget next; "" if all others than `newest` are present."""
        kept = {newest, *(seat.guest for seat in self._seats)}
        absent = [one for one in self._tallies if one not in kept]
        silent = (one for one in absent if one not in self._votes and not self._tallies[one].total)
        return next(silent, absent[0] if absent else "")

    def knows(self, guest: str) -> bool:
        """Whether this server made the word `guest`, and remembers it."""
        return guest in self._tallies

    def has_room(self, address: str, host: bool = False) -> bool:
        """Whether one more stream may be opened from a network address; one of a host always may,
        until the server shuts down."""
        network = network_of(address)
        own = sum(network_of(seat.address) == network for seat in self._seats)
        free = len(self._seats) < MOST_STREAMS * guest_limits.factor()
        allowed = own < guest_limits.pages_of_address()
        return not self.ended and (host or (free and allowed))

    def join(self, seat: Seat) -> None:
        """Count the guest of a stream that has been opened as present."""
        self._seats.add(seat)
        self._tallies.setdefault(seat.guest, _Tally())  # forgotten since it was admitted
        self._change(by_guest=not seat.host)

    def leave(self, seat: Seat) -> None:
        """Forget a stream that has ended."""
        self._seats.discard(seat)
        if seat.host:
            self._left = seat
        self._change(by_guest=not seat.host)

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
        self._change()

    def end(self) -> None:
        """End all streams: the server shuts down."""
        self.ended = True
        self._change()

    def is_led_elsewhere(self, page: str) -> bool:
        """Whether another tab than `page` leads. The first tab that shows something leads, until it
        is closed, shows nothing more or hands over."""
        return not self._screen.is_empty and self._screen.page not in ("", page)

    def lead(self, page: str) -> None:
        """Let the tab `page` lead from now on; "" = any."""
        self._screen = replace(self._screen, page=page)
        self._change()

    def show(self, screen: Screen) -> None:
        """Take the host's present screen. Votes on an earlier question are cleared. A question that
        comes with its answer, on which nobody could vote, is none.
        """
        before, now = self._screen.question, screen.question
        if _revealed(now) and not _same(before, now):
            now = None
        if not _same(before, now):
            self._votes.clear()
            self._number += 1
        elif now and _revealed(now) and not _revealed(before):
            self._count(now)
        self._screen = replace(screen, question=now)
        self._away = False
        self._change()

    def vote(self, guest: str, number: int, choice: int) -> bool:
        """Take a guest's vote, replacing an earlier one. Returns whether it counts.

        A vote counts if it names a candidate of the question on screen, before the reveal, if the
        guest's stream is open, and if its network address has not cast as many as it may open
        streams.
        """
        question = self._screen.question
        if question is None or question.answer is not None or number != self._number:
            return False
        own = (seat for seat in self._seats if seat.guest == guest and not seat.host)
        seat = next(own, None)
        if seat is None or not 0 <= choice < len(question.candidates):
            return False
        before, network = self._votes.get(guest), network_of(seat.address)
        if before is None and self._votes_of(network) >= guest_limits.pages_of_address():
            return False
        if before is None or before.choice != choice:
            self._votes[guest] = _Vote(choice, network)
            self._change(by_guest=True)
        return True

    def share(self, training: str, curve: Curve, address: str) -> None:
        """Keep a guest's curve in the place of an earlier one of the same training. No other guest
        hears of it.

        address: the network address it came from. One with too many loses its own.
        """
        shared = _SharedCurve(curve, network_of(address))
        with self._changing_curves:
            self._shared.pop(training, None)
            self._shared[training] = shared
            own = [word for word, one in self._shared.items() if one.network == shared.network]
            self._forget_beyond(guest_limits.curves_of_address(), own)
            self._forget_beyond(round(MOST_CURVES * guest_limits.factor()), list(self._shared))
            self.curves = {word: one.curve for word, one in self._shared.items()}

    def _forget_beyond(self, most: int, trainings: list[str]) -> None:
        """Forget all but `most` of `trainings`, the oldest first. Finished ones are last, since a
        training that goes on is heard of again."""
        by_age = sorted(trainings, key=lambda word: self._shared[word].curve.finished)
        for word in by_age[: max(0, len(by_age) - most)]:
            del self._shared[word]

    def clear_curves(self) -> None:
        """Forget all curves; called in any thread. That of a training which goes on comes again
        with its next moment."""
        with self._changing_curves:
            self._shared.clear()
            self.curves = {}

    def _votes_of(self, network: str) -> int:
        return sum(vote.network == network for vote in self._votes.values())

    def message(self, seat: Seat) -> bytes:
        """Present state for the page of a stream, as JSON. Guests see the others' votes after the
        reveal.

        What all guests are told is written once after each change. Each one's results stand before
        it, and their choice, the last part of the question, behind it.
        """
        if seat.host:
            return _as_json({"host": True, "right": 0, "total": 0, **self._told(seat)})
        if self._written[0] != self.version:
            self._written = self.version, _as_json(self._told(None))[1:]
        told = self._written[1]
        tally = self._tallies.get(seat.guest) or _Tally()
        results = b'{"host": false, "right": %d, "total": %d, ' % (tally.right, tally.total)
        vote = self._votes.get(seat.guest)
        if self._screen.question is None:
            return results + told
        choice = b"null" if vote is None else b"%d" % vote.choice
        return results + told.removesuffix(b"}}") + b', "choice": %s}}' % choice

    def _told(self, host: Seat | None) -> dict[str, Any]:
        """What a stream of a host is told, or, with None, all guests; the question last."""
        present = {one.guest for one in self._seats if not one.host}
        return {
            "present": len(present),
            "away": self._away,
            "elsewhere": host is not None and self.is_led_elsewhere(host.page),
            "view": self._screen.view,
            "question": self._question(host, present),
        }

    def _question(self, host: Seat | None, present: set[str]) -> dict[str, Any] | None:
        question = self._screen.question
        if question is None:
            return None
        counts = Counter(vote.choice for vote in self._votes.values())
        of_address = Counter(vote.network for vote in self._votes.values())
        told = {
            "number": self._number,
            **asdict(question),
            "answered": len(self._votes),
            "asked": len(present | self._votes.keys()),
            "counts": [counts[index] for index in range(len(question.candidates))],
        }
        if host is not None:
            return {**told, "of_one_address": max(of_address.values(), default=0), "choice": None}
        return told if question.answer is not None else {**told, "counts": None}

    def _count(self, question: Question) -> None:
        """Add the votes to the guests' results; of a card only each guest's first one."""
        counted = self._counted(question)
        for guest in self._votes.keys() - counted:
            tally = self._tallies[guest]
            tally.total += 1
            tally.right += self._votes[guest].choice == question.answer
        counted.update(self._votes)

    def _counted(self, question: Question) -> set[str]:
        """Guests whose vote on the same card was counted before. A step of a trace that is guessed
        again is another question."""
        if question.kind != "card":
            return set()
        card = replace(question, answer=None)
        counted = self._cards.pop(card, set())
        self._cards[card] = counted  # the last one
        while len(self._cards) > MOST_CARDS:
            del self._cards[next(iter(self._cards))]
        return counted

    def _change(self, by_guest: bool = False) -> None:
        self.version += 1
        self.tell(by_guest)


def _as_json(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=False).encode()


def _same(one: Question | None, other: Question | None) -> bool:
    """Whether two are one question, before or after its reveal. A question that is hidden again is
    another one."""
    if one is None or other is None:
        return one is other
    hidden_again = _revealed(one) and not _revealed(other)
    return replace(one, answer=None) == replace(other, answer=None) and not hidden_again


def _revealed(question: Question | None) -> bool:
    return question is not None and question.answer is not None
