"""Two texts that an encoder reads together, in one sequence of tokens."""

from explorer.core.trace import Trace


def second_text(trace: Trace) -> int | None:
    """Position of the first source token of the second text, or None if there is one text.

    Special tokens before it belong to the first text.
    """
    second = trace.facts.get("second")
    if isinstance(second, bool) or not isinstance(second, int):
        return None
    return second if 0 < second < len(trace.source_tokens) else None


def typed_separator(trace: Trace) -> str:
    """A separator typed inside a single text; "" if there is none.

    Only for a model that distinguishes two texts: it reads both sides of the separator as the first
    text.
    """
    separator = trace.facts.get("separator")
    if not isinstance(separator, str) or second_text(trace) is not None:
        return ""
    return separator if trace.source_tokens.count(separator) > 1 else ""
