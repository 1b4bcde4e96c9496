"""A text in two models: the second decodes it freely, and is then forced to the output of the
first, so that the two traces have the same axes."""

from dataclasses import replace

from explorer.core.errors import TraceError
from explorer.core.trace import Trace
from explorer.core.vocabulary import SPECIALS, shown_label
from explorer.heads.comparison.trace_comparison import TraceComparison
from explorer.model.explorable import ExplorableModel


def compare_models(original: Trace, model: ExplorableModel) -> TraceComparison:
    """`original` and the same text in another model, `changed` and `forced` in `TraceComparison`.

    Tokens are matched by their labels: two models may number the same token differently.

    Raises `TraceError` if the model cuts the text into other tokens or lacks a token of the output;
    otherwise as `ExplorableModel.trace`, such as on a text that is too long.
    """
    text, pad_to = original.facts["text"], original.facts["pad_to"]
    _refuse_other_source(original, model)
    ids = _ids(original.predicted_tokens, model)
    free = model.trace(text, pad_to=pad_to)
    forced = model.trace(text, force=ids, pad_to=pad_to, max_new_tokens=len(ids))
    # As with a target that is given as text, no token is marked as one that a person forced.
    given = replace(forced, facts={**forced.facts, "given": True}, digest="")
    return TraceComparison(original, free, given)


def _refuse_other_source(original: Trace, model: ExplorableModel) -> None:
    """Raise `TraceError` if the model cuts the text into other tokens.

    Both sources end with EOS, so if they differ, they differ at some position of the shorter one.
    """
    ids = model.source_ids(original.facts["text"])
    pairs = zip(original.source_tokens, model.source_vocabulary.labels(ids), strict=False)
    for position, pair in enumerate(pairs, start=1):
        if pair[0] != pair[1]:
            a, b = map(shown_label, pair)
            raise TraceError("models_cut_otherwise", name=model.name, position=position, a=a, b=b)


def _ids(tokens: tuple[str, ...], model: ExplorableModel) -> dict[int, int]:
    """Step → id of each output token in the other model.

    A byte may have the same label as a piece, and has a lower id. The piece is chosen if there is
    one.
    """
    vocabulary = model.target_vocabulary
    labels = vocabulary.labels(range(len(vocabulary)))
    known = {label: number for number, label in (*enumerate(labels), *enumerate(SPECIALS))}
    ids = {}
    for step, token in enumerate(tokens, start=1):
        if token not in known:
            facts = {"name": model.name, "step": step, "token": shown_label(token)}
            raise TraceError("model_lacks_token", **facts)
        ids[step] = known[token]
    return ids
