"""Predictions of a model without next-token output: class, tag of each token, or span of the text,
with probabilities.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers.models.electra.modeling_electra import ElectraForPreTrainingOutput

from explorer.core.files import one_line
from explorer.core.predictions import Prediction, PredictionKind
from explorer.core.vocabulary import valid_text
from explorer.model.huggingface.tokens import TextTokens
from explorer.model.row_logits import CANDIDATES

MOST_LABELS = 200
"""The most labels kept for a whole text; for a token it is `CANDIDATES`."""

LONGEST_LABEL = 100
"""Characters of a label that are kept."""

NEXT_SENTENCE = ("goes on", "does not go on")
"""Whether the second text follows the first, as BertForNextSentencePrediction numbers it."""

REPLACED = ("original", "replaced")
"""Whether a token was replaced, as ElectraForPreTraining numbers it."""

_SLICE = 256  # number of first tokens whose spans are compared at a time


def answer_of(model: Any) -> PredictionKind | None:
    """Kind of prediction of a library model, or None if it predicts tokens or has no head."""
    name = type(model).__name__
    if name.endswith(("ForQuestionAnswering", "ForQuestionAnsweringSimple")):
        # Other heads, such as XLM's, search the ends for each beginning.
        plain = isinstance(getattr(model, "qa_outputs", None), torch.nn.Linear)
        return PredictionKind.SPAN if plain else None
    if name.endswith("ForTokenClassification"):
        return PredictionKind.TAGS
    if name == "ElectraForPreTraining":
        return PredictionKind.REPLACED
    if name.endswith("ForNextSentencePrediction"):
        return PredictionKind.CLASS
    if name.endswith("ForSequenceClassification"):
        return _KINDS[_function(model.config)]
    return None


def answer_logits(out: Any) -> Tensor | None:
    """Logits (N, S, L) from a library output with its own format, or None for any other output.

    L = 2 for a span, its first and last token; L = 1 for replaced tokens.
    """
    if getattr(out, "start_logits", None) is not None:
        return torch.stack([out.start_logits, out.end_logits], -1)
    return out.logits[..., None] if isinstance(out, ElectraForPreTrainingOutput) else None


def label_names(model: Any, count: int) -> tuple[str, ...]:
    """The names of `count` outputs, by the config."""
    if type(model).__name__.endswith("ForNextSentencePrediction"):
        return NEXT_SENTENCE
    known = getattr(model.config, "id2label", None)
    known = known if isinstance(known, dict) else {}
    names = (str(known.get(number, f"LABEL_{number}")) for number in range(count))
    return tuple(one_line(valid_text(name[:LONGEST_LABEL])) for name in names)


def answered(model: Any, outputs: Tensor, read: TextTokens, special: frozenset[int]) -> Prediction:
    """The prediction of a model for which `answer_of` is not None.

    outputs: logits (L,) or (1, L) of a text, or (S, L) of its tokens, padding included; for a span
        (S, 2), of its first and its last token.
    read: the text without padding. special: ids of special tokens, which get no tag.
    """
    answer = answer_of(model)
    assert answer is not None
    logits = outputs.float()
    if answer in (PredictionKind.CLASS, PredictionKind.LABELS, PredictionKind.SCORE):
        logits = logits.flatten()
        return _of_text(answer, logits, label_names(model, len(logits)), model.config, read)
    logits = logits[: len(read.ids)]
    content = [place for place, token in enumerate(read.ids) if token not in special]
    if answer == PredictionKind.SPAN:
        return _span(logits, read, content)
    if answer == PredictionKind.TAGS:
        return _tags(answer, logits, label_names(model, logits.size(1)), content)
    # A sigmoid of one logit is a softmax of it and 0.
    return _tags(answer, torch.cat([torch.zeros_like(logits), logits], -1), REPLACED, content)


def _function(config: Any) -> str:
    """Function from logits to probabilities: "softmax", "sigmoid", or "score" for a plain score
    without one."""
    count = int(getattr(config, "num_labels", 0) or 0)
    named = getattr(config, "function_to_apply", None)
    problem = getattr(config, "problem_type", None)
    if count == 1 or problem == "regression" or named == "none":
        return "score"
    if named in ("softmax", "sigmoid"):
        return str(named)
    return "sigmoid" if problem == "multi_label_classification" else "softmax"


_KINDS = {
    "softmax": PredictionKind.CLASS,
    "sigmoid": PredictionKind.LABELS,
    "score": PredictionKind.SCORE,
}


def _squashes_score(config: Any) -> bool:
    """Whether the config asks for a sigmoid of the score; sentence-transformers has a key of its
    own for that."""
    own = getattr(config, "sentence_transformers", None)
    activation = own.get("activation_fn") if isinstance(own, dict) else None
    activation = activation or getattr(config, "sbert_ce_default_activation_function", None)
    return (
        getattr(config, "function_to_apply", None) == "sigmoid"
        or getattr(config, "problem_type", None) == "multi_label_classification"
        or str(activation).rsplit(".", 1)[-1] == "Sigmoid"
    )


def _of_text(
    answer: PredictionKind, logits: Tensor, names: Sequence[str], config: Any, read: TextTokens
) -> Prediction:
    """A class, labels or scores of the whole text."""
    shares = torch.full_like(logits, torch.nan)
    if answer == PredictionKind.CLASS:
        shares = logits.softmax(-1)
    elif answer == PredictionKind.LABELS or _squashes_score(config):
        shares = logits.sigmoid()
    order = logits.argsort(descending=True, stable=True)[:MOST_LABELS]
    chosen = {
        PredictionKind.CLASS: torch.arange(len(order)) == 0,
        PredictionKind.LABELS: shares[order] > 0.5,
        PredictionKind.SCORE: torch.ones(len(order), dtype=torch.bool),
    }[answer]
    ends = torch.tensor([[0, len(read.ids)]]).expand(len(order), -1)
    labels = [names[index] for index in order.tolist()]
    return _prediction(answer, labels, ends, logits[order], shares[order], chosen, len(order))


def _tags(
    answer: PredictionKind, logits: Tensor, names: Sequence[str], content: Sequence[int]
) -> Prediction:
    """The most probable tags of each token that is text."""
    rows = logits[list(content)]
    best = rows.softmax(-1).topk(min(CANDIDATES, rows.size(1)))  # (content, best)
    count = best.indices.size(1)
    first = torch.tensor(list(content), dtype=torch.long).repeat_interleave(count)
    return _prediction(
        answer,
        [names[index] for index in best.indices.flatten().tolist()],
        torch.stack([first, first + 1], -1),
        rows.gather(1, best.indices).flatten(),
        best.values.flatten(),
        (torch.arange(count) == 0).repeat(len(rows)),
        count,
    )


def _span(logits: Tensor, read: TextTokens, content: Sequence[int]) -> Prediction:
    """The most probable spans; in a pair, only spans of the second text. The very first token,
    if it is special, stands for no answer.

    A span has the probability of its first token times that of its last one, each over all tokens.
    """
    offered = [place for place in content if place >= (read.second or 0)]
    if 0 not in content:  # such as [CLS]
        offered = [0, *offered]
    places = torch.tensor(offered, dtype=torch.long)
    first, last = (logits[:, side].softmax(-1)[places] for side in (0, 1))
    best = _best_spans(first, last, alone=0 not in content)
    ends = places[best]  # (best, 2)
    labels = [read.spelled(start, stop + 1) for start, stop in ends.tolist()]
    values = logits[ends[:, 0], 0] + logits[ends[:, 1], 1]
    shares = first[best[:, 0]] * last[best[:, 1]]
    stops = torch.stack([ends[:, 0], ends[:, 1] + 1], -1)
    chosen = torch.arange(len(labels)) == 0
    return _prediction(
        PredictionKind.SPAN, labels, stops, values, shares, chosen, max(len(labels), 1)
    )


def _best_spans(first: Tensor, last: Tensor, *, alone: bool) -> Tensor:
    """(best, 2) indices of the first and last token of the most probable spans, best first.

    alone: whether the token at index 0 is a span only by itself.
    """
    shares, spans = torch.empty(0), torch.empty(0, 2, dtype=torch.long)
    ends = torch.arange(len(first))
    for start in range(0, len(first), _SLICE):
        starts = ends[start : start + _SLICE]
        allowed = starts[:, None] <= ends
        if alone:
            allowed = allowed & ((starts[:, None] > 0) | (ends == 0))
        products = (first[starts, None] * last).masked_fill(~allowed, -1.0)
        best = products.flatten().topk(min(CANDIDATES, int(allowed.sum())))
        pairs = torch.stack([starts[best.indices // len(ends)], best.indices % len(ends)], -1)
        shares, spans = torch.cat([shares, best.values]), torch.cat([spans, pairs])
        order = shares.argsort(descending=True, stable=True)[:CANDIDATES]
        shares, spans = shares[order], spans[order]
    return spans


def _prediction(
    answer: PredictionKind,
    labels: Sequence[str],
    ends: Tensor,
    values: Tensor,
    shares: Tensor,
    chosen: Tensor,
    ranks: int,
) -> Prediction:
    """The prediction with its table of N entries.

    ends: (N, 2) the first token of each entry, and the one after its last.
    ranks: number of entries for the same tokens.
    """
    numbers = torch.arange(len(labels)) % max(ranks, 1) + 1
    return Prediction(
        answer,
        tuple(labels),
        {
            "start": ends[:, 0].numpy(),
            "stop": ends[:, 1].numpy(),
            "rank": numbers.numpy(),
            "value": values.float().numpy(),
            "probability": shares.float().numpy(),
            "chosen": chosen.numpy(),
        },
    )
