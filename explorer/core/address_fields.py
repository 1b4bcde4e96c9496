"""How a field of a look is written: as a word of an address, and in what a browser reports.

Both are untrusted. A word or a value that fails its check is refused alone.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from explorer.core.errors import InterventionError
from explorer.core.interventions import Interventions
from explorer.core.vocabulary import LONGEST_LINKED_TEXT
from explorer.core.zoom import Zoom

LARGEST_NUMBER = 9_999
MOST_FORCED = 64
MOST_INTERVENTIONS = 24

Whole = Annotated[int, Meta(ge=0, lt=2**31)]
Step = Annotated[int, Meta(gt=0, lt=2**31)]
"""A step, from 1; a trace without a target has none."""

LanguageCode = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_]{0,24}\Z")]
"""Code of a language; "" = the model's own choice."""

_NUMBER = re.compile(r"[0-9]{1,4}", re.ASCII)
_PAIR = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})", re.ASCII)
_FORCED = re.compile(r"([0-9]{1,4})\.([0-9]{1,7})", re.ASCII)
_LANGUAGE = re.compile(r"\w{1,24}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of field.

    name: used by the browser, see `lookAddress.ts`.
    read: word of an address → value; None = refused.
    write: value → word of an address.
    reported: the type of a value that a browser reports; None = it reports none.
    unset: a value that, like None, is not written.
    choices: the allowed values; () = no list.
    """

    name: str
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    reported: Any = None
    unset: Any = None
    choices: tuple[str, ...] = ()

    def is_written(self, value: Any) -> bool:
        """Whether an address names `value`."""
        return value is not None and value != self.unset

    def take(self, value: object) -> Any:
        """The value that a browser reports, or None if it is malformed or unset."""
        taken = reported(value, self.reported)
        return taken if self.is_written(taken) else None


@dataclass(frozen=True, slots=True)
class Declared:
    """Declaration of a field of a look, except its name.

    word: its name in an address.
    of_one_model: whether it has no meaning for another model, with other tokens and heads.
    limit: part of a trace that bounds it: "sites", "layers", "heads", "steps", "cells" or "zooms";
        "" = none.
    state: its name in the state of the player; "" = the player has none.
    needs_server: whether a page without a server cannot show it.
    """

    kind: Kind
    word: str
    of_one_model: bool = False
    limit: str = ""
    state: str = ""
    needs_server: bool = False


def asked(kind: Kind, default: Any = MISSING, **more: Any) -> Any:
    """A field of a request to a model; more: fields of `Declared`."""
    return field(default=default, metadata={"kind": kind, **more})


def shown(kind: Kind, **more: Any) -> Any:
    """A field of a selection; None = the component's default. Unless `more` says otherwise, the
    player's state has it under the same name."""
    return field(default=None, metadata={"kind": kind, **more})


@cache
def declared(record: type) -> Mapping[str, Declared]:
    """Declarations of the fields of a record, by field name."""
    found = {}
    for one in fields(record):
        if one.metadata:
            names: dict[str, Any] = {"word": one.name, "state": one.name}
            found[one.name] = Declared(**(names | dict(one.metadata)))
    return found


def words_of(record: Any) -> dict[str, str]:
    """The fields of a record that an address names: word → how its value is written."""
    written = {}
    for name, one in declared(record.__class__).items():
        if one.kind.is_written(value := getattr(record, name)):
            written[one.word] = one.kind.write(value)
    return written


def reported(value: object, kind: Any) -> Any:
    """A value reported by a browser, checked; None if it is not of type `kind`.

    JavaScript sends 3 or 3.0 for a whole number.
    """
    try:
        return msgspec.convert(_with_whole_numbers(value), kind)
    except (msgspec.ValidationError, RecursionError):
        return None


def _with_whole_numbers(value: object) -> object:
    if isinstance(value, list):
        return [_with_whole_numbers(one) for one in value]
    if isinstance(value, dict):
        return {name: _with_whole_numbers(one) for name, one in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def choice(names: Iterable[str]) -> Kind:
    """One of these names."""
    choices = tuple(names)
    one_of: Any = Literal  # of names that are not known to a checker of types
    return Kind(
        "choice",
        lambda word: word if word in choices else None,
        reported=one_of[choices],
        unset="",
        choices=choices,
    )


def number(most: int = LARGEST_NUMBER, reported: Any = Whole) -> Kind:
    """A number from 0 to `most`."""
    return Kind("number", lambda word: _number(word, most), reported=reported)


def _number(word: str, most: int) -> int | None:
    return int(word) if _NUMBER.fullmatch(word) and int(word) <= most else None


def _pair(word: str) -> tuple[int, int] | None:
    match = _PAIR.fullmatch(word)
    return (int(match[1]), int(match[2])) if match else None


def _forced(word: str) -> tuple[tuple[int, int], ...] | None:
    """Steps, from 1, and token ids from "3.12_5.7"; no step twice."""
    matches = [_FORCED.fullmatch(pair) for pair in word.split("_", MOST_FORCED)]
    pairs = {int(match[1]): int(match[2]) for match in matches if match}
    if len(pairs) < len(matches) or len(pairs) > MOST_FORCED or 0 in pairs:
        return None
    return tuple(sorted(pairs.items()))


def _interventions(word: str) -> Interventions | None:
    """Interventions from "ablate cross.1.2;close cross.0.0 1 2". Only the model can tell
    whether it has such heads."""
    lines = word.split(";", MOST_INTERVENTIONS)
    try:
        return Interventions.parse(lines) if len(lines) <= MOST_INTERVENTIONS else None
    except InterventionError:
        return None


def wrong_drawing(word: str) -> str:
    """The first of the lines in `word` that is a drawing beyond its ranges; "" without one."""
    for line in word.split(";", MOST_INTERVENTIONS):
        try:
            Interventions.parse([line])
        except InterventionError as error:
            if error.key == "bad_drawing":
                return f"draw {error.facts['got']}"
    return ""


NAME = Kind("name", str, unset="")
"""Any text; the reader of the address looks it up in a list."""

TEXT = Kind("text", lambda word: word if len(word) <= LONGEST_LINKED_TEXT else None)
SECOND_TEXT = Kind("text", TEXT.read, unset="")

LANGUAGE = Kind("name", lambda word: word if _LANGUAGE.fullmatch(word) else None, unset="")
"""Code of a language. Whether a model has it is checked with the model."""

NUMBER = number()
STEP = number(reported=Step)

FLAG = Kind("flag", lambda word: word == "1" or None, lambda _: "1", bool, unset=False)
"""On. Off is not written in an address or a report."""

SWITCH = Kind("switch", {"0": False, "1": True}.get, lambda on: str(int(on)), bool)
"""On or off; None = the address says nothing."""

PAIR = Kind("pair", _pair, lambda pair: "{}.{}".format(*pair), tuple[Whole, Whole])
"""Query and key, or layer and head: "3.5"."""

ZOOM = Kind("zoom", Zoom.parse, reported=Zoom)

FORCED = Kind(
    "forced",
    _forced,
    lambda forced: "_".join(f"{step}.{token}" for step, token in forced),
    unset=(),
)
INTERVENTIONS = Kind(
    "interventions", _interventions, lambda lines: ";".join(lines.texts()), unset=Interventions()
)
