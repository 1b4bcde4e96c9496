"""Alignment error rates of all heads of the shipped translators on the shipped gold links.

    python -m benchmarks.gold_alignment [--pairs 100]

For each translator: how far the two linkings agree; a table of error rates in percent, a
row for each layer and timing, a column for each head and one for the mean of the layer's heads; and
the best head, the best mean and the diagonal with their 95 % intervals over sentences.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from explorer.core import folders
from explorer.core.alignment import TIMINGS, Gold, error_rate
from explorer.heads.alignment.aer_by_head import align_pairs, all_methods
from explorer.heads.alignment.aer_report import DIAGONAL, AlignmentMethod, ErrorRate
from explorer.heads.alignment.gold_file import AlignmentFile, GivenTokens, GoldFile
from explorer.model.explorable import ExplorableModel, load

MODELS = ("english-french", "chinese-english")
MERGED, FIRST, SECOND = "3", "6", "7"
"""Columns of the links of both linkers, and of each."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=100, help="of each file (default: all 100)")
    most = parser.parse_args(arguments).pairs
    for name in MODELS:
        checkpoints = folders.shipped_checkpoints()
        path = checkpoints / "gold" / f"{name}.tsv"
        one, other = (_links(path, column) for column in (FIRST, SECOND))
        print(f"{name}: {agreement_text(one, other)}\n")
        print_rates(load(checkpoints / f"{name}.safetensors"), path, most)


def agreement_text(one: Sequence[Gold], other: Sequence[Gold]) -> str:
    """The agreement of two linkings of the same pairs: the Dice coefficient of their links, as in
    Melamed 1998 (arXiv cmp-lg/9805005), which is F1; and the error rate of the sure links of each
    against the other (Och & Ney 2003)."""
    sure = _dice([gold.sure for gold in one], [gold.sure for gold in other])
    possible = _dice([gold.possible for gold in one], [gold.possible for gold in other])
    errors = [
        100 * error_rate([gold.sure for gold in given], judge)
        for given, judge in ((one, other), (other, one))
    ]
    return (
        f"agreement {sure:.3f} of sure links, {possible:.3f} of all; error rate of one against "
        f"the other {errors[0]:.1f} and {errors[1]:.1f} %"
    )


def print_rates(model: ExplorableModel, path: Path, most: int) -> None:
    """The table of one translator, and what stands out."""
    whole = AlignmentFile.read(path, ("1", "2", MERGED, "4", "5"))
    assert isinstance(whole.tokens, GivenTokens)
    assert whole.gold is not None
    tokens = replace(whole.tokens, pairs=whole.tokens.pairs[:most])
    gold = GoldFile(whole.gold.links[:most], path.name)
    found = align_pairs(model, whole.pairs[:most], all_methods(model), tokens=tokens, gold=gold)
    rates = {one.method: one.error_rate for one in found.methods if one.error_rate is not None}
    config = model.transformer.config
    heads = range(config.heads)
    print(f"| layer, row | {' | '.join(f'H{head}' for head in heads)} | mean |")
    print("|---" * (config.heads + 2) + "|")
    for layer, timing in product(range(config.decoder_layers), reversed(TIMINGS)):
        row = [rates[AlignmentMethod(layer, head, timing)].value for head in (*heads, None)]
        print(f"| L{layer} {timing} | {' | '.join(f'{100 * rate:.1f}' for rate in row)} |")
    print(f"\nbest head {_best(rates, mean=False)}; best mean {_best(rates, mean=True)}; ", end="")
    print(f"diagonal {_shown(rates[DIAGONAL])}\n")


def _links(path: Path, column: str) -> tuple[Gold, ...]:
    gold = AlignmentFile.read(path, ("1", "2", column, "4", "5")).gold
    assert gold is not None
    return gold.links


def _dice(
    one: Sequence[frozenset[tuple[int, int]]], other: Sequence[frozenset[tuple[int, int]]]
) -> float:
    both = sum(len(links & again) for links, again in zip(one, other, strict=True))
    return 2 * both / sum(map(len, (*one, *other)))


def _best(rates: Mapping[AlignmentMethod, ErrorRate], *, mean: bool) -> str:
    own = [method for method in rates if method != DIAGONAL and (method.head is None) == mean]
    method = min(own, key=lambda one: rates[one].value)
    return f"{method.name} {method.timing} {_shown(rates[method])}"


def _shown(rate: ErrorRate) -> str:
    return f"{100 * rate.value:.1f} [{100 * rate.low:.1f}, {100 * rate.high:.1f}]"


if __name__ == "__main__":
    main()
