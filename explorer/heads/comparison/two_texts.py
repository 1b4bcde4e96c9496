"""Two texts in one model, position by position."""

from collections.abc import Sequence

from explorer.core.errors import TraceError
from explorer.core.trace import Trace
from explorer.core.trace_size import FIT
from explorer.core.vocabulary import shorten, shown_label
from explorer.core.words import read_tokens
from explorer.heads.comparison.trace_comparison import TraceComparison
from explorer.model.measurable import MeasurableModel
from explorer.model.trace_options import input_of


def compare_inputs(model: MeasurableModel, one: Trace, other: Trace) -> TraceComparison:
    """Two texts of `model`, each with the output that the model gives it.

    If one output is longer, both are compared up to the end of the shorter one: rows of a decoder
    do not depend on later ones. Rows of an encoder do, so both texts need equally many tokens.

    Raises `TraceError` if the numbers of tokens differ.
    """
    _refuse_other_count(one, other)
    steps = min(_decoded(one), _decoded(other))
    one, other = (_first_steps(model, trace, steps) for trace in (one, other))
    return TraceComparison(one, other, other, by="position")


def _refuse_other_count(one: Trace, other: Trace) -> None:
    """Raise `TraceError` if the numbers of tokens differ. Padding counts as tokens."""
    read = [read_tokens(trace) for trace in (one, other)]
    if len(read[0]) == len(read[1]):
        return
    facts = {
        "a": shorten(one.facts["text"]),
        "b": shorten(other.facts["text"]),
        "count": len(read[0]),
        "other": len(read[1]),
        "tokens": _listed(read[0]),
        "others": _listed(read[1]),
    }
    raise TraceError("inputs_of_other_length", **facts)


def _listed(tokens: Sequence[str]) -> str:
    """As many whole tokens as a message has room for."""
    text = " ".join(map(shown_label, tokens))
    shown = shorten(text)
    is_cut = shown.endswith("…") and not text.endswith("…")
    return f"{shown.rpartition(' ')[0]} …" if is_cut else shown


def _prompt(trace: Trace) -> int:
    prompt = trace.facts.get("prompt", 0)
    assert isinstance(prompt, int)
    return prompt


def _decoded(trace: Trace) -> int:
    """Number of tokens decoded and fed in, including the beginning of the sequence."""
    return len(trace.target_tokens) - _prompt(trace)


def _first_steps(model: MeasurableModel, trace: Trace, steps: int) -> Trace:
    """`trace` with its output cut to at most `steps` steps."""
    if _decoded(trace) == steps:
        return trace
    most = steps + (1 if _prompt(trace) else 0)
    pad_to = trace.facts.get("pad_to")
    return model.trace(**input_of(trace.facts), pad_to=pad_to, max_new_tokens=most, layers=FIT)
