"""Kinds of fields: words of an address, values that a browser reports, and what is declared."""

from dataclasses import fields

import pytest

from explorer.core.address_fields import (
    FLAG,
    FORCED,
    NUMBER,
    PAIR,
    STEP,
    SWITCH,
    ZOOM,
    Step,
    Whole,
    choice,
    declared,
    number,
    reported,
)
from explorer.core.look import Look, Reading, Request, Selection
from explorer.core.zoom import Zoom
from tests.support.shared_examples import shared_examples

LETTERS = choice(("a", "b"))
WORDS = [
    (number(16), "16", 16),
    (number(16), "17", None),
    (FORCED, "3.12_1.7", ((1, 7), (3, 12))),
    (FORCED, "3.12_x", None),
    (LETTERS, "a", "a"),
    (LETTERS, "A", None),
]
EXAMPLES = [
    (declared(Selection)[name].kind, word, tuple(value) if isinstance(value, list) else value)
    for name, word, value in shared_examples("address")["words"]
]


@pytest.mark.parametrize(("kind", "word", "value"), [*WORDS, *EXAMPLES])
def test_a_word_of_an_address_is_read_or_refused(kind, word, value):
    """The examples are those of the test of `lookAddress.ts`."""
    read = kind.read(word)
    assert read == value
    if kind.is_written(read):
        assert kind.read(kind.write(read)) == value


REPORTS = [
    (NUMBER, 3.0, 3),
    (NUMBER, 0, 0),
    (NUMBER, -1, None),
    (NUMBER, True, None),
    (NUMBER, "3", None),
    (NUMBER, float("nan"), None),
    (NUMBER, float("inf"), None),
    (NUMBER, 1.5, None),
    (NUMBER, 10**30, None),
    (NUMBER, 1e300, None),
    (STEP, 0, None),
    (FLAG, True, True),
    (FLAG, False, None),
    (FLAG, 1, None),
    (SWITCH, False, False),
    (SWITCH, 0, None),
    (PAIR, [1, 2.0], (1, 2)),
    (PAIR, [1], None),
    (ZOOM, [1, 2.0, 0, 3], Zoom(1, 2, 0, 3)),
    (ZOOM, [1, 2], None),
    (PAIR, [1, "2"], None),
    (PAIR, "1.2", None),
    (LETTERS, "b", "b"),
    (LETTERS, ["b"], None),
    (LETTERS, "c", None),
]


@pytest.mark.parametrize(("kind", "value", "taken"), REPORTS)
def test_a_reported_value_is_taken_or_left_out(kind, value, taken):
    found = kind.take(value)
    assert (type(found), found) == (type(taken), taken)


@pytest.mark.parametrize("kind", [Whole, PAIR.reported, dict[str, list[float]]])
def test_a_value_nested_too_deeply_is_left_out(kind):
    nested: object = 1
    for _ in range(2000):
        nested = [nested]
    assert reported(nested, kind) is None


def test_what_is_reported_beside_a_look_is_checked_by_its_type():
    assert reported(3.0, Whole) == 3
    assert reported(0, Whole) == 0
    assert reported(0, Step) is None
    assert reported({"a": [1.0, 2.5]}, dict[str, list[float]]) == {"a": [1, 2.5]}


def test_nothing_but_what_is_off_or_missing_is_left_out_of_an_address():
    kept = [
        kind.is_written(value) for kind, value in ((NUMBER, 0), (SWITCH, False), (PAIR, (0, 0)))
    ]
    assert kept == [True, True, True]
    left = [kind.is_written(value) for kind, value in ((FLAG, False), (FORCED, ()), (NUMBER, None))]
    assert left == [False, False, False]


def test_each_word_of_an_address_is_that_of_one_field():
    words = [one.word for kind in (Request, Reading, Look, Selection) for one in _of(kind)]
    assert len(words) == len(set(words)) > 20
    assert all(one.kind.reported for one in _of(Selection))


def test_every_field_of_a_selection_is_declared():
    assert list(declared(Selection)) == [one.name for one in fields(Selection)]


def _of(record):
    return declared(record).values()
