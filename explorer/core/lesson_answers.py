"""The named functions by which a lesson asks a `Trace` for a word or a number.

A lesson names one as the answer to a question, or in braces in its text, so that no model output is
written by hand. Each returns the text shown on screen, in the lesson's language.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import LessonError, TraceError
from explorer.core.i18n import say
from explorer.core.mask_reasons import REASONS, UNMASKED
from explorer.core.number_format import calculated, percent
from explorer.core.printed_numbers import Cell, PrintedCell, print_cell
from explorer.core.score_formula import capped, score_formula
from explorer.core.trace import Trace
from explorer.core.vocabulary import SPECIALS, shown_label

_WORD_START = "▁"
_NAMES: Mapping[str, str] = {"bos": "player.name_bos", "eos": "player.name_eos"}


@dataclass(frozen=True, slots=True)
class Place:
    """The part of a trace that a card shows.

    layer: counted among those that the trace has, as `head` from 0.
    step: from 1; None if the card has none.
    cell: (query, key); None = the key with the largest weight in the row of `step`.
    """

    site: str
    layer: int
    head: int
    step: int | None = None
    cell: tuple[int, int] | None = None

    @property
    def query(self) -> int:
        """The row: that of the cell, else of the step, else the first."""
        return self.cell[0] if self.cell else (self.step or 1) - 1


def answer(name: str, trace: Trace, place: Place, language: str) -> str:
    """Answer of the function called `name` for a place.

    Raises `LessonError` if the trace does not have the place or lacks the arrays that the function
    needs.
    """
    try:
        return ANSWERS[name](trace, place, language)
    except (TraceError, KeyError, IndexError, ValueError) as error:
        raise LessonError("no_answer", answer=name) from error


def named(label: str, language: str) -> str:
    """What a lesson calls bos and eos, as choices may still be written; any other label itself."""
    return say(_NAMES[label], language) if label in _NAMES else label


def needs_capture(name: str) -> bool:
    """Whether a function reads more than weights: a trace of the layer with full capture."""
    return name in _CALCULATED


def _row(trace: Trace, place: Place) -> NDArray[np.float32]:
    """The weights of the row (key,)."""
    return trace.attention(place.site)[place.layer, place.head, place.query]


def _key(trace: Trace, place: Place) -> int:
    return place.cell[1] if place.cell else int(_row(trace, place).argmax())


def _label(token: str, language: str) -> str:
    """A token as the player shows it in a lesson."""
    label = shown_label(token)
    return named(label, language) if token in SPECIALS else label.removeprefix(_WORD_START)


def _largest_key(trace: Trace, place: Place, language: str) -> str:
    return _label(trace.keys(place.site)[int(_row(trace, place).argmax())], language)


def _largest_position(trace: Trace, place: Place, _: str) -> str:
    """Where the largest key stands, counted from 1."""
    return str(int(_row(trace, place).argmax()) + 1)


def _next_key(trace: Trace, place: Place, language: str) -> str:
    """The largest key of the row after this one."""
    row = trace.attention(place.site)[place.layer, place.head, place.query + 1]
    return _label(trace.keys(place.site)[int(row.argmax())], language)


def _query_token(trace: Trace, place: Place, language: str) -> str:
    return _label(trace.queries(place.site)[place.query], language)


def _key_token(trace: Trace, place: Place, language: str) -> str:
    return _label(trace.keys(place.site)[_key(trace, place)], language)


def _weight(trace: Trace, place: Place, _: str) -> str:
    return f"{_row(trace, place)[_key(trace, place)]:.2f}"


def _rest(trace: Trace, place: Place, _: str) -> str:
    """Weight left for the other keys: 1 minus the printed weight."""
    return f"{1 - float(_weight(trace, place, _)):.2f}"


def _row_sum(trace: Trace, place: Place, _: str) -> str:
    return f"{_row(trace, place).sum():.2f}"


def _reason_code(trace: Trace, place: Place) -> int:
    codes = trace.closed(place.site, place.layer, place.head)
    return int(codes[place.query, _key(trace, place)])


def _mask_reason(trace: Trace, place: Place, language: str) -> str:
    reason = REASONS[_reason_code(trace, place)].replace(" ", "_")
    return say(f"player.reason_{reason}", language)


def _unmasked_keys(trace: Trace, place: Place, _: str) -> str:
    mask = trace.mask(place.site, place.layer, place.head)
    return str(int(mask[place.query].sum()))


def _masked_keys(trace: Trace, place: Place, _: str) -> str:
    mask = trace.mask(place.site, place.layer, place.head)
    return str(int((~mask[place.query]).sum()))


def _predicted_token(trace: Trace, place: Place, language: str) -> str:
    return _label(trace.predicted_tokens[place.query], language)


def _output(trace: Trace, place: Place, _: str) -> str:
    """All that the model writes, as text."""
    return trace.text


def _second_token(trace: Trace, place: Place, language: str) -> str:
    """The second most probable token after the row."""
    arrays = trace.arrays
    second = (arrays["steps.rank"] == 2) & (arrays["steps.step"] == place.query + 1)
    (place_in_list,) = np.flatnonzero(second)
    return _label(trace.candidate_tokens[int(place_in_list)], language)


def _probability(trace: Trace, place: Place, _: str) -> str:
    arrays = trace.arrays
    chosen = arrays["steps.chosen"].astype(bool) & (arrays["steps.step"] == place.query + 1)
    (share,) = arrays["steps.probability"][chosen]
    return percent(float(share))


def _best_head(trace: Trace, place: Place, _: str) -> str:
    """The head with the largest mean weight on the gold positions."""
    if trace.gold is None:
        raise ValueError("no gold alignment")
    rows = trace.gold.any(1)
    weights = (trace.attention(trace.gold_site) * trace.gold).sum(-1)  # (layer, head, T)
    means = weights[..., rows].mean(-1)  # (layer, head)
    layer, head = np.unravel_index(int(means.argmax()), means.shape)
    return f"L{layer} H{head}"


def _calculation(trace: Trace, place: Place) -> PrintedCell:
    """Calculation of the cell, as the panel *Inside* prints it."""
    site, layer, head = place.site, place.layer, place.head
    query = trace.query_vectors(site)[layer, head, place.query].astype(np.float64)
    products = trace.key_vectors(site)[layer, head].astype(np.float64) @ query
    formula = score_formula(trace, site, layer, head)
    bias = np.zeros(len(products)) if formula.bias is None else formula.bias[place.query]
    scores = capped(products * formula.scale, formula.cap) + bias
    unmasked = scores[trace.closed(site, layer, head)[place.query] == UNMASKED]
    largest = float(unmasked.max(initial=-math.inf))
    sinks = trace.arrays.get(f"{site}.sink")
    left = 1.0 if sinks is None else 1 - float(sinks[layer, head, place.query])
    key = _key(trace, place)
    cell = Cell(
        product=float(products[key]),
        scale=formula.scale,
        width=formula.width if formula.divides_by_root else None,
        cap=formula.cap,
        bias=float(bias[key]),
        score=float(scores[key]),
        largest=largest,
        total=float(np.exp(unmasked - largest).sum()) / left,
        masked=_reason_code(trace, place) != UNMASKED,
    )
    return print_cell(cell)


def _parts(trace: Trace, place: Place) -> NDArray[np.float64]:
    """Lengths of weight × value, the vector that each key adds to the head's output: (key,)."""
    values = trace.values(place.site)[place.layer, place.head].astype(np.float64)
    return _row(trace, place) * np.linalg.norm(values, axis=-1)


def _largest_part(trace: Trace, place: Place, language: str) -> str:
    return _label(trace.keys(place.site)[int(_parts(trace, place).argmax())], language)


def _vector(trace: Trace, place: Place, name: str) -> NDArray[np.float64]:
    """A vector of the row on its way through the layer."""
    vector: NDArray[np.float64] = trace.arrays[name][place.layer, place.query].astype(np.float64)
    return vector


def _first(trace: Trace, place: Place, name: str) -> str:
    """The first number of a vector around the attention."""
    return calculated(float(_vector(trace, place, f"{place.site}.{name}")[0]))


def _length(trace: Trace, place: Place, name: str) -> str:
    """The length of a vector around the attention."""
    return calculated(float(np.linalg.norm(_vector(trace, place, f"{place.site}.{name}"))))


def _feed_forward(trace: Trace, place: Place) -> NDArray[np.float64]:
    """The numbers between the two layers of the feed-forward network, after ReLU."""
    stack = "encoder" if place.site == "encoder" else "decoder"
    return _vector(trace, place, f"{stack}.feed_forward_hidden")


def _side_by_side(trace: Trace, place: Place, _: str) -> str:
    """How many numbers the outputs of all heads have together."""
    _, heads, _, width = trace.head_output(place.site).shape
    return str(heads * width)


def _early_token(trace: Trace, place: Place, language: str) -> str:
    """The most probable next token if the layer were the last."""
    first, *_others = trace.facts["early_tokens"][place.layer][place.query]
    return _label(first, language)


def _early_probability(trace: Trace, place: Place, _: str) -> str:
    return percent(float(trace.arrays["early.probability"][place.layer, place.query, 0]))


Answer = Callable[[Trace, Place, str], str]

_CALCULATED: Mapping[str, Answer] = {
    "part": lambda trace, place, _: calculated(float(_parts(trace, place)[_key(trace, place)])),
    "largest part": _largest_part,
    "width": lambda trace, place, _: str(trace.query_vectors(place.site).shape[-1]),
    "product": lambda trace, place, _: _calculation(trace, place).product,
    "score": lambda trace, place, _: _calculation(trace, place).score,
    "exponent": lambda trace, place, _: _calculation(trace, place).exponent,
    "power": lambda trace, place, _: _calculation(trace, place).power,
    "sum of powers": lambda trace, place, _: _calculation(trace, place).total,
    "heads": lambda trace, place, _: str(trace.head_output(place.site).shape[1]),
    "side by side": _side_by_side,
    "number before": lambda trace, place, _: _first(trace, place, "input"),
    "number added": lambda trace, place, _: _first(trace, place, "sublayer_output"),
    "number after": lambda trace, place, _: _first(trace, place, "output"),
    "length before": lambda trace, place, _: _length(trace, place, "input"),
    "normed length": lambda trace, place, _: _length(trace, place, "sublayer_input"),
    "hidden numbers": lambda trace, place, _: str(len(_feed_forward(trace, place))),
    "active numbers": lambda trace, place, _: str(int((_feed_forward(trace, place) > 0).sum())),
    "early token": _early_token,
    "early probability": _early_probability,
}

ANSWERS: Mapping[str, Answer] = {
    "largest key": _largest_key,
    "largest position": _largest_position,
    "next key": _next_key,
    "query token": _query_token,
    "key token": _key_token,
    "weight": _weight,
    "rest": _rest,
    "row sum": _row_sum,
    "mask reason": _mask_reason,
    "open keys": _unmasked_keys,
    "masked keys": _masked_keys,
    "predicted token": _predicted_token,
    "output": _output,
    "second token": _second_token,
    "probability": _probability,
    "best head": _best_head,
    **_CALCULATED,
}
"""By the name that a lesson uses. Weights have two decimals; the numbers of a calculation as many
as the panel *Inside* shows."""
