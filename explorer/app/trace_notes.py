"""What the server has to say of a trace: how its model was opened, its sinks, settings that are not
applied, and a typed separator.
"""

from collections.abc import Iterator

from explorer.app import model_cache
from explorer.core.i18n import say
from explorer.core.trace import Trace, typed_separator
from explorer.model.catalog import CatalogMember

_LONGEST = 300  # characters of a note in a file, which anybody may have written
_MOST = 8  # notes in a file


def trace_notes(member: CatalogMember, trace: Trace, language: str) -> str:
    """The notes on the model; where there is none, that on a separator in the text of a model of
    the library. "" if there is nothing to say."""
    library = member.can_trace and not member.is_own
    return model_notes(member, trace, language) or (
        separator_note(trace, language) if library else ""
    )


def model_notes(member: CatalogMember, trace: Trace, language: str) -> str:
    """Sentences on how the model was opened, on its sinks and on settings that are not applied; ""
    if there is nothing to say."""
    return " ".join([*_opening_notes(member, trace, language), *_trace_notes(trace, language)])


def _opening_notes(member: CatalogMember, trace: Trace, language: str) -> Iterator[str]:
    model = model_cache.opened(member)
    if model is not None:
        yield from (note.in_language(language) for note in model.notes)
    else:
        yield from _texts(trace.facts.get("notes"))


def _trace_notes(trace: Trace, language: str) -> Iterator[str]:
    if any(f"{site}.sink" in trace.arrays for site in trace.sites):
        yield say("explore.note_sinks", language)
    ignored = ", ".join(_texts(trace.facts.get("not_applied")))
    if ignored and trace.target_tokens:  # an encoder alone decodes nothing
        yield say("explore.note_not_applied", language, names=ignored)


def _texts(value: object) -> list[str]:
    listed = value[:_MOST] if isinstance(value, list | tuple) else []
    return [text[:_LONGEST] for text in listed if isinstance(text, str)]


def separator_note(trace: Trace, language: str) -> str:
    """That a typed separator does not split the text, which the model reads as one; "" without
    such a separator."""
    separator = typed_separator(trace)
    return say("explore.note_separator", language, separator=separator) if separator else ""
