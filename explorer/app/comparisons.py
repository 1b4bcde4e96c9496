"""Comparisons of two models, two texts, or two moments of a run, computed once for all visitors."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from explorer.app import model_cache
from explorer.app.model_cache import extent_of
from explorer.app.state import train as train_state
from explorer.components.training_replay.own_choices import with_own_choices
from explorer.components.training_replay.payload import thinned
from explorer.core.errors import ExplorerError, RunError
from explorer.core.look import COMPARE, MomentPair, Request
from explorer.core.trace import Trace
from explorer.heads.comparison.attention_comparison import compare
from explorer.heads.comparison.trace_comparison import TraceComparison
from explorer.heads.patching.patching_result import PatchedTexts
from explorer.jobs import training_launcher
from explorer.jobs.training_run import Run
from explorer.model.catalog import CatalogMember, CatalogModel, OwnModel


class ComparisonError(ExplorerError):
    """A model, or moments of a run, that cannot be compared."""

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


def of_models(member: CatalogModel, other: OwnModel, request: Request) -> TraceComparison:
    """Comparison of the text in both models, see `compare_models`. Raises `ExplorerError`."""
    free = request.unchanged()
    key = ("models", member.stamp, other.stamp, other.name, free)
    return model_cache.kept_comparison(key, lambda: _of_models(member, other, free))


def _may_be_equal(member: CatalogModel, other: OwnModel, text: str, asked: str) -> bool:
    if other.name == member.name:
        return False
    if member.kind != other.kind or _has_both_stacks(member) != _has_both_stacks(other):
        return False
    symbols, others = (set(one.summary.symbols) for one in (member, other))
    return symbols == others and (bool(symbols) or other.name == asked or other.reads(text))


def _has_both_stacks(member: CatalogModel) -> bool:
    return member.summary.encoder_layers > 0 and member.summary.decoder_layers > 0


def _of_models(member: CatalogModel, other: OwnModel, request: Request) -> TraceComparison:
    from explorer.heads.comparison.two_models import compare_models  # late: with torch

    original, model = model_cache.greedy_trace(member, request), model_cache.model_of(other)
    with model_cache.computing():
        return compare_models(original, model)


def initial_text(member: CatalogModel, text: str) -> str:
    """Text that `text` is compared with first. For symbols: `text` reversed. For sentences: an
    example with as many tokens, or else `text` itself, for the visitor to change."""
    if not member.summary.reads_sentences:
        return " ".join(reversed(text.split()))
    model = model_cache.model_of(member)
    tokens = extent_of(model, text).tokens
    others = (other for other in member.examples if other != text)
    return next((other for other in others if extent_of(model, other).tokens == tokens), text)


def of_texts(member: CatalogModel, request: Request, text: str) -> TraceComparison:
    """Comparison of the text of `request` with `text`, see `compare_inputs`. Raises
    `ExplorerError`."""
    free = request.unchanged()
    key = ("texts", member.stamp, free, text)
    return model_cache.kept_comparison(key, lambda: _of_texts(member, free, text))


def _of_texts(member: CatalogModel, request: Request, text: str) -> TraceComparison:
    from explorer.heads.comparison.two_texts import compare_inputs  # late: with torch

    one = model_cache.greedy_trace(member, request)
    other = model_cache.greedy_trace(member, replace(request, text=text))
    model = model_cache.model_of(member)
    with model_cache.computing():
        return compare_inputs(model, one, other)


def patched(member: CatalogModel, request: Request, text: str, sites: str) -> PatchedTexts:
    """What values of the text of `request` restore in `text`, see `patch_texts`. Raises
    `ExplorerError`."""
    free = request.unchanged()
    key = ("patched", member.stamp, free, text, sites)
    return model_cache.kept(
        key,
        lambda: _patched(member, free, text, sites),
        lambda one: int(one.found.table.memory_usage(deep=True).sum()),
    )


def _patched(member: CatalogModel, request: Request, text: str, sites: str) -> PatchedTexts:
    from explorer.heads.patching.two_texts import patch_texts  # late: with torch

    one = model_cache.greedy_trace(member, request)
    other = model_cache.greedy_trace(member, replace(request, text=text))
    model = model_cache.model_of(member)
    with model_cache.computing():
        return patch_texts(model, one, other, sites)


_EARLY = 5
"""The first moment of the initial pair is at 1/`_EARLY` of the run's moments."""


def runs_with_moments() -> dict[str, Run]:
    """The runs that have moments, by "root/name", in the order of the Train page."""
    listed = train_state.list_all_runs().items()
    return {key: run for key, run in listed if run.metrics_path.is_file()}


def run_of(pair: MomentPair) -> Run:
    """The run of a pair. Raises `ComparisonError` if there is none."""
    root, name = pair.run.split("/", 1)
    try:
        return training_launcher.find(root, name)
    except RunError as error:
        raise ComparisonError("no_training", name=name) from error


def steps_of(run: Run) -> list[int]:
    """Steps of the moments with a probe trace. A long run is thinned as in its replay."""
    moments = thinned(run.moments())
    return [int(one["step"]) for one in moments if run.probe_path(int(one["step"])).is_file()]


def initial_pair(key: str, steps: Sequence[int]) -> MomentPair:
    """An early moment and the last one of a run called `key`.

    Raises `ComparisonError` if it has fewer than two.
    """
    if len(steps) < 2:
        raise ComparisonError("few_moments", name=key.split("/", 1)[-1])
    return MomentPair(key, steps[len(steps) // _EARLY], steps[-1])


def pair_query(key: str, steps: Sequence[int]) -> dict[str, str]:
    """The query of the Heads page that opens the pair of `initial_pair`."""
    return {"part": COMPARE, "with": str(initial_pair(key, steps))}


def of_moments(pair: MomentPair) -> TraceComparison:
    """The probe at both moments, each row with the model's own prediction there.

    Raises `ExplorerError` if a moment is missing or damaged, and if a run of this name was started
    again with another probe.
    """
    run = run_of(pair)
    key = ("moments", pair_stamp(pair))
    return model_cache.kept_comparison(key, lambda: _of_moments(run, pair))


def pair_stamp(pair: MomentPair) -> str:
    """Stamp that changes whenever a stored trace of the two moments does. Raises as `run_of`
    does."""
    run, found = run_of(pair), [str(pair)]
    for step in (pair.first, pair.second):
        with suppress(OSError):  # a missing one is refused when it is read
            status = run.probe_path(step).stat()
            found.append(f"{status.st_mtime_ns}:{status.st_size}")
    return " ".join(found)


def moment_scores(run: Run, step: int) -> Mapping[str, float]:
    """Scores at a moment, as far as they were measured: exact match, BLEU."""
    lines = (line for line in run.moments() if line["step"] == step)
    line = next(lines, {})
    return {name: line[name] for name in ("exact_match", "bleu") if name in line}


def _of_moments(run: Run, pair: MomentPair) -> TraceComparison:
    one, other = (_probe(run, step) for step in (pair.first, pair.second))
    compare(one, other)  # which refuses other tokens
    return TraceComparison(one, other, other)


def _probe(run: Run, step: int) -> Trace:
    if not run.probe_path(step).is_file():
        raise ComparisonError("no_moment", step=step, name=run.name)
    return with_own_choices(run.probe(step))
