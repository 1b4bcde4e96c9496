"""A look as the query of an address, and back.

A query is untrusted text: each parameter is looked up in a list or checked against a range.
A parameter that fails is left out, and its name is returned, so that a page can report it.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from explorer.core.field_kinds import declared
from explorer.core.look import (
    CHANGES,
    COMPARE,
    OTHER_TEXT,
    Look,
    Reading,
    Request,
    Selection,
)
from explorer.core.moment_pair import MomentPair


def to_query(look: Look) -> dict[str, str]:
    """The query that `from_query` reads back."""
    if look.compared == OTHER_TEXT:
        look = replace(look, compared="")
    else:
        look = replace(look, other_text="")
    selection = look.selection
    if look.section != COMPARE:
        selection = replace(selection, other=None)
    if selection.cell is None:
        selection = replace(selection, inside=None)
    request = look.request
    query = _written(request) | (_written(request.reading) if request.reading else {})
    return query | _written(look) | _written(selection)


def _written(record: Any) -> dict[str, str]:
    """The fields of a record that an address names, by their words."""
    query = {}
    for name, one in declared(record.__class__).items():
        if one.kind.is_written(value := getattr(record, name)):
            query[one.word] = one.kind.write(value)
    return query


def from_query(
    query: Mapping[str, str], initial_requests: Mapping[str, Request]
) -> tuple[Look, tuple[str, ...]]:
    """The look in a query, and the names of the parameters that were refused.

    initial_requests: name of each listed model, the default one first → its initial request.
    """
    initial = initial_requests.get(query.get("model", ""), next(iter(initial_requests.values())))
    # The tokens of an unknown model say nothing about the default one.
    known = query.get("model", initial.model) in initial_requests
    fits = {
        "model": known,
        "pair": initial.pair is not None,
        "with": _can_compare(query.get("with", ""), initial_requests),
        **dict.fromkeys(declared(Reading), initial.reading is not None),
    }
    refused: list[str] = []
    found: dict[type, dict[str, Any]] = {Request: {}, Reading: {}, Look: {}, Selection: {}}
    for record, values in found.items():
        for name, one in declared(record).items():
            if one.word not in query or (one.of_one_model and not known):
                continue
            value = one.kind.read(query[one.word]) if fits.get(one.word, True) else None
            if value is None:
                refused.append(one.word)
            else:
                values[name] = value
    asked, more = found[Request], found[Look]
    asked["text"] = asked.get("text") or initial.text
    if initial.reading is not None:
        asked["reading"] = replace(initial.reading, **found[Reading])
    if more.get("other_text"):
        if "compared" in more:  # one of the two
            refused.append("with")
        more["compared"] = OTHER_TEXT
    request = replace(initial, **asked)
    return Look(request, Selection(**found[Selection]), **more), tuple(refused)


def _can_compare(name: str, initial_requests: Mapping[str, Request]) -> bool:
    return name in initial_requests or name == CHANGES or MomentPair.parse(name) is not None
