"""Activation patching between two texts in one model, where their outputs part."""

from collections.abc import Sequence
from itertools import takewhile

from explorer.core.errors import EvaluationBatchError
from explorer.core.trace import Trace
from explorer.core.vocabulary import shorten, shown_label
from explorer.core.word_segmentation import spelling
from explorer.core.words import word_mark
from explorer.heads.patching.activation_patching import patch
from explorer.heads.patching.patching_result import PatchedTexts
from explorer.model.measurable import MeasurableModel
from explorer.model.trace_options import input_of

_NOTHING = ("patch_same_prediction", "patch_equal_metrics")


def patch_texts(model: MeasurableModel, one: Trace, other: Trace, sites: str) -> PatchedTexts:
    """Put values of the run of one text into that of the other, see `patch`; the next token is
    predicted after what both outputs have in common.

    one, other: each with the output that the model gives it. sites: "heads" or "residual".

    Raises `EvaluationBatchError` if the outputs do not part or begin with tokens that no text
    gives, and on a pair of texts or messages, and the errors of `patch`.
    """
    given = [input_of(trace.facts) for trace in (one, other)]
    if any("pair" in read or "messages" in read for read in given):
        raise EvaluationBatchError("patch_one_text")
    if output_of(one) and output_of(one) == output_of(other):
        raise EvaluationBatchError("patch_same_output")
    languages = (given[0].get(f"{side}_language") for side in ("source", "target"))
    spoken, prefix = model.in_languages(*languages), common_output(one, other)
    _refuse_unread(spoken, one, other)
    try:
        found = patch(spoken, *(read["text"] for read in given), sites=sites, prefix=prefix)
    except EvaluationBatchError as error:
        if error.key not in _NOTHING or output_of(one):  # by its rules, a model decodes otherwise
            raise
        raise EvaluationBatchError("patch_same_output") from error
    return PatchedTexts(found, prefix, _given(one) + len(_common_tokens(one, other)))


def output_of(trace: Trace) -> tuple[str, ...]:
    """The tokens that the model adds to what it was given."""
    return trace.predicted_tokens[_given(trace) - 1 :]


def _given(trace: Trace) -> int:
    """Number of tokens that the model was given to go on from: of a translation, the start."""
    return max(trace.facts.get("prompt", 0), 1)


def common_output(one: Trace, other: Trace) -> str | None:
    """The text of the tokens before the first one in which both outputs differ; None = no text.

    It is the `prefix` of `patch` with which the two runs predict different tokens.
    """
    return _text(_common_tokens(one, other), word_mark(one)) or None


def _common_tokens(one: Trace, other: Trace) -> tuple[str, ...]:
    pairs = zip(output_of(one), output_of(other), strict=False)
    return tuple(token for token, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _refuse_unread(model: MeasurableModel, one: Trace, other: Trace) -> None:
    """Raise `EvaluationBatchError` if the text of the common tokens is read as other tokens, such
    as bytes that are no whole character."""
    tokens = _common_tokens(one, other)
    if not tokens:
        return
    text, prefix = input_of(one.facts)["text"], common_output(one, other)
    queries = model.passes.begun([text], [prefix], "patch").queries
    assert queries is not None  # a model that decodes has some
    read = model.passes.labels(queries.ids[0].tolist(), "target")
    if read[_given(one) :] != tokens:
        written = shorten(" ".join(map(shown_label, tokens)))
        raise EvaluationBatchError("patch_unread_output", tokens=written)


def _text(tokens: Sequence[str], mark: str) -> str:
    """The text that tokens spell, without specials."""
    units = [unit for unit in spelling(tokens, mark) if not unit.special]
    if not mark:
        return " ".join(unit.text for unit in units)
    text = "".join(" " * unit.marked + unit.text for unit in units)
    return text if mark == "Ġ" else text.strip()  # there a space belongs to the token
