"""Two texts in the model on screen, computed once for all visitors."""

from dataclasses import replace

from explorer.app import experiment_cache, model_cache
from explorer.app.model_cache import extent_of
from explorer.core.look import Request
from explorer.heads.comparison.trace_comparison import TraceComparison
from explorer.model.catalog import CatalogModel


def initial_text(member: CatalogModel, text: str) -> str:
    """Text that `text` is compared with first. For symbols: `text` reversed. For sentences: an
    example with as many tokens, or else `text` itself, for the visitor to change."""
    if not member.summary.reads_sentences:
        return " ".join(reversed(text.split()))
    model = model_cache.model_of(member)
    tokens = extent_of(model, text).tokens
    others = (other for other in member.examples if other != text)
    return next((other for other in others if extent_of(model, other).tokens == tokens), text)


def comparison(member: CatalogModel, request: Request, text: str) -> TraceComparison:
    """Comparison of the text of `request` with `text`, see `compare_inputs`. Raises
    `ExplorerError`."""
    free = request.without_forced()
    key = ("texts", member.stamp, free, text)
    return model_cache.kept(key, lambda: _comparison(member, free, text), experiment_cache.bytes_of)


def _comparison(member: CatalogModel, request: Request, text: str) -> TraceComparison:
    from explorer.heads.comparison.two_texts import compare_inputs  # late: with torch

    one = model_cache.greedy_trace(member, request)
    other = model_cache.greedy_trace(member, replace(request, text=text))
    model = model_cache.model_of(member)
    with model_cache.computing():
        return compare_inputs(model, one, other)
