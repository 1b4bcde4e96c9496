"""A text in two models: the second decodes it freely, and is then forced to the output of the
first, so that the two traces have the same axes."""

from dataclasses import replace

from explorer.core.errors import TraceError
from explorer.core.trace import Trace
from explorer.core.vocabulary import EOS, SPECIALS, shown_label
from explorer.heads.comparison.trace_comparison import TraceComparison
from explorer.model.explorable import ExplorableModel


def compare_models(original: Trace, model: ExplorableModel) -> TraceComparison:
    """`original` and the same text in another model, `changed` and `forced` in `TraceComparison`.

    Tokens are matched by their labels: two models may number the same token differently.

    Raises `TraceError` if the model cuts the text into other tokens or lacks a token of the output;
    otherwise as `ExplorableModel.trace`, such as on a text that is too long.
    """
    text, pad_to = original.facts["text"], original.facts["pad_to"]
    _refuse_other_input(original, model)
    ids = _ids(original, model)
    free = model.trace(text, pad_to=pad_to)
    forced = model.trace(text, force=ids, pad_to=pad_to, max_new_tokens=len(ids))
    # As with a target that is given as text, no token is marked as one that a person forced.
    given = replace(forced, facts={**forced.facts, "given": True}, digest="")
    return TraceComparison(original, free, given)


def _refuse_other_input(original: Trace, model: ExplorableModel) -> None:
    """Raise `TraceError` if the model cuts the text into other tokens, or if only one of the two
    models has an encoder.

    Both inputs end with EOS, so if they differ, they differ at some position of the shorter one.
    """
    source, prompt = model.checkpoint.read(original.facts["text"])
    if bool(source) != bool(original.source_tokens):
        raise TraceError("models_of_other_kind", name=model.name)
    known = original.source_tokens
    if prompt:
        known = (*original.predicted_tokens[: original.facts["prompt"] - 1], SPECIALS[EOS])
    read = model.source_vocabulary.labels(source or [*prompt, EOS])
    for position, pair in enumerate(zip(known, read, strict=False), start=1):
        if pair[0] != pair[1]:
            a, b = map(shown_label, pair)
            raise TraceError("models_cut_otherwise", name=model.name, position=position, a=a, b=b)


def _ids(original: Trace, model: ExplorableModel) -> dict[int, int]:
    """Step → id of each token of the output in the other model.

    A byte may have the same label as a piece, and has a lower id. The piece is chosen if there is
    one.
    """
    vocabulary = model.target_vocabulary
    labels = vocabulary.labels(range(len(vocabulary)))
    known = {label: number for number, label in (*enumerate(labels), *enumerate(SPECIALS))}
    ids, first = {}, original.facts.get("prompt", 1)
    for step, token in enumerate(original.predicted_tokens[first - 1 :], start=first):
        if token not in known:
            facts = {"name": model.name, "step": step, "token": shown_label(token)}
            raise TraceError("model_lacks_token", **facts)
        ids[step] = known[token]
    return ids
