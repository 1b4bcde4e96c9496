"""The parameters of a link that could not be followed, in words."""

from collections.abc import Iterable

from explorer.core.i18n import isolated, say
from explorer.core.verbs import ranges
from explorer.core.vocabulary import LONGEST_LINKED_TEXT


def refused_parts(names: Iterable[str], language: str) -> str:
    """The parts of the page with these names, listed; the name of a wrong drawing is its line."""
    return say("explore.part_separator", language).join(_part(name, language) for name in names)


def _part(name: str, language: str) -> str:
    word, _, got = name.partition(" ")
    facts = {"longest": LONGEST_LINKED_TEXT, "got": isolated(got), **ranges("draw")}
    return say(f"explore.part_{word}", language, **facts)
