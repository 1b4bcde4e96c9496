"""Two texts in one model, position by position."""

from explorer.core.errors import TraceError
from explorer.core.trace import Trace
from explorer.core.trace_size import FIT
from explorer.core.vocabulary import shorten, shown_label
from explorer.heads.comparison.trace_comparison import TraceComparison
from explorer.model.measurable import MeasurableModel
from explorer.model.trace_options import input_of


def compare_inputs(model: MeasurableModel, one: Trace, other: Trace) -> TraceComparison:
    """Two texts of `model`, each with the output that the model gives it.

    Where one output is longer, both are compared as far as the shorter goes: rows of a decoder do
    not depend on later ones. An encoder's do, so that both texts need equally many tokens.

    Raises `TraceError` where they have not.
    """
    _refuse_other_count(one, other)
    steps = min(_decoded(one), _decoded(other))
    one, other = (_first_steps(model, trace, steps) for trace in (one, other))
    return TraceComparison(one, other, other, by="position")


def _refuse_other_count(one: Trace, other: Trace) -> None:
    """Padding counts: with as much of it, texts of different lengths have different tokens."""
    read = [_read(trace) for trace in (one, other)]
    if len(read[0]) == len(read[1]):
        return
    facts = {
        "a": one.facts["text"],
        "b": other.facts["text"],
        "count": len(read[0]),
        "other": len(read[1]),
        "tokens": " ".join(map(shown_label, read[0])),
        "others": " ".join(map(shown_label, read[1])),
    }
    raise TraceError(
        "inputs_of_other_length",
        **{name: shorten(own) if isinstance(own, str) else own for name, own in facts.items()},
    )


def _read(trace: Trace) -> tuple[str, ...]:
    """What the model was given: the source; of a decoder alone the prompt."""
    return trace.source_tokens or trace.target_tokens[: _prompt(trace)]


def _prompt(trace: Trace) -> int:
    prompt = trace.facts.get("prompt", 0)
    assert isinstance(prompt, int)
    return prompt


def _decoded(trace: Trace) -> int:
    """How many tokens were decoded and fed in, the beginning of the sequence included."""
    return len(trace.target_tokens) - _prompt(trace)


def _first_steps(model: MeasurableModel, trace: Trace, steps: int) -> Trace:
    """`trace`, whose output is cut where it is longer."""
    if _decoded(trace) == steps:
        return trace
    most = steps + (1 if _prompt(trace) else 0)
    pad_to = trace.facts.get("pad_to")
    return model.trace(**input_of(trace.facts), pad_to=pad_to, max_new_tokens=most, layers=FIT)
