"""Models that can be compared on a text, and the comparison, computed once for all visitors."""

from collections.abc import Mapping

from explorer.app import experiment_cache, model_cache
from explorer.core.errors import ExplorerError
from explorer.core.look import Request
from explorer.heads.comparison.trace_comparison import TraceComparison
from explorer.model.catalog import CatalogMember, CatalogModel, OwnModel


class ComparedModelError(ExplorerError):
    """A model that cannot be compared with the one on screen."""

    section = "heads"


def comparable(
    member: CatalogModel, catalog: Mapping[str, CatalogMember], text: str, asked: str = ""
) -> dict[str, OwnModel]:
    """Models of the catalog that may have the same tokens as `member` for `text`, by name. Those
    with the same task come first.

    A model of symbols is compared with models of the same symbols. A model of sentences is compared
    with models that can read such a sentence; whether their tokens are equal is known once they are
    loaded.

    asked: name of a model that is listed for any sentence, so that a message can name what it lacks
        of the text.
    """
    found = [
        other
        for other in catalog.values()
        if other.can_trace and other.is_own and _may_be_equal(member, other, text, asked)
    ]
    found.sort(key=lambda other: other.summary.task != member.summary.task)
    return {other.name: other for other in found}


def comparison(member: CatalogModel, other: OwnModel, request: Request) -> TraceComparison:
    """Comparison of the text in both models, see `compare_models`. Raises `ExplorerError`."""
    free = request.without_forced()
    key = ("models", member.stamp, other.stamp, other.name, free)
    return model_cache.kept(
        key, lambda: _comparison(member, other, free), experiment_cache.bytes_of
    )


def _may_be_equal(member: CatalogModel, other: OwnModel, text: str, asked: str) -> bool:
    if other.name == member.name:
        return False
    symbols, others = (set(one.summary.symbols) for one in (member, other))
    return symbols == others and (bool(symbols) or other.name == asked or other.reads(text))


def _comparison(member: CatalogModel, other: OwnModel, request: Request) -> TraceComparison:
    from explorer.heads.comparison.two_models import compare_models  # late: with torch

    original, model = model_cache.greedy_trace(member, request), model_cache.model_of(other)
    with model_cache.computing():
        return compare_models(original, model)
