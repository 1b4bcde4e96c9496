"""The gold links that ship, and links of heads, against short counts made here."""

import re
from collections.abc import Sequence
from itertools import chain, product
from pathlib import Path

import pytest

from explorer.core.alignment import TIMINGS
from explorer.core.trace import Trace
from explorer.heads.alignment.gold_file import AlignmentFile
from explorer.heads.alignment.pair_links import pair_links
from explorer.model.explorable import ExplorableModel, load
from tests.support.sample import sampled

CHECKPOINTS = Path(__file__).parent.parent.parent / "checkpoints"
FIVE = ("1", "2", "3", "4", "5")
NAMES = ("english-french", "chinese-english")

Cells = set[tuple[int, int]]


def rows_of(name: str) -> list[list[str]]:
    lines = (CHECKPOINTS / "gold" / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines]


def links_of(cell: str) -> tuple[Cells, Cells]:
    """Sure links, and all of them."""
    found = [re.fullmatch(r"(\d+)([-?])(\d+)", link) for link in cell.split()]
    every = {(int(link[1]), int(link[3])) for link in found if link}
    assert len(every) == len(found)
    return {(int(one[1]), int(one[3])) for one in found if one and one[2] == "-"}, every


def rate(found: list[Cells], gold: list[tuple[Cells, Cells]]) -> float:
    """1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)."""
    shared = total = 0
    for links, (sure, possible) in zip(found, gold, strict=True):
        shared += sum(link in sure for link in links) + sum(link in possible for link in links)
        total += len(links) + len(sure)
    return 1 - shared / total


@pytest.mark.parametrize("name", NAMES)
def test_the_links_are_those_of_two_linkings_merged(name: str) -> None:
    """Sure where both say so, possible where either does (Och & Ney 2003)."""
    rows = rows_of(name)
    assert len(rows) == 100
    for _, _, links, source, target, first, second, credit in rows:
        (sure, every), one, other = map(links_of, (links, first, second))
        assert sure == one[0] & other[0]
        assert every == one[1] | other[1]
        assert all(s < len(source.split(" ")) for s, _ in every)
        assert all(t < len(target.split(" ")) for _, t in every)
        assert "CC-BY 2.0 (France) Attribution: tatoeba.org" in credit


@pytest.mark.parametrize("name", NAMES)
def test_the_documented_agreement_is_that_of_the_file(name: str) -> None:
    rows = rows_of(name)
    one, other = ([links_of(row[column]) for row in rows] for column in (5, 6))
    shares = []
    for kind in (0, 1):
        both = sum(len(a[kind] & b[kind]) for a, b in zip(one, other, strict=True))
        shares.append(2 * both / sum(len(links[kind]) for links in (*one, *other)))
    errors = rate([links[0] for links in one], other), rate([links[0] for links in other], one)
    text = (CHECKPOINTS / "README.md").read_text(encoding="utf-8")
    documented = "| {} | {:.3f} | {:.3f} | {:.1f} %, {:.1f} % |"
    assert documented.format(f"`{name}.tsv`", *shares, *(100 * error for error in errors)) in text


@pytest.fixture(scope="module", params=NAMES)
def translator(request: pytest.FixtureRequest) -> ExplorableModel:
    return load(CHECKPOINTS / f"{request.param}.safetensors")


def test_links_are_those_of_the_largest_weight_by_hand(translator: ExplorableModel) -> None:
    """From a trace of each pair alone: each character of a piece gets an equal part of it."""
    rows = rows_of(translator.name)
    spelled = [row for row in rows if row[0].isprintable() and "…" not in row[0] + row[1]]
    chosen = sampled(spelled, 6)
    config = translator.transformer.config
    heads = product(range(config.decoder_layers), range(config.heads), TIMINGS)
    file = AlignmentFile.parse("".join("\t".join(row) + "\n" for row in chosen).encode(), "x", FIVE)
    for layer, head, timing in sampled([*heads], 4):
        found = pair_links(translator, file, layer, head, timing)
        for links, row in zip(found, chosen, strict=True):
            trace = translator.trace(row[0], target=row[1])
            if "<0x" in "".join((*trace.source_tokens, *trace.target_tokens)):
                continue  # bytes have no characters
            weights = trace.attention("cross")[layer, head].tolist()
            assert links == links_by_hand(trace, row[3].split(), row[4].split(), weights, timing)


def links_by_hand(
    trace: Trace,
    source: list[str],
    target: list[str],
    weights: list[list[float]],
    timing: str,
) -> Cells:
    """For each target token the source token with the most weight, character by character."""
    keys, queries = letters(trace.source_tokens), letters(trace.target_tokens)
    links, row = set(), 0
    for number, token in enumerate(target):
        own = list(chain(*queries[row : row + len(token)]))
        row += len(token)
        sums, column = [], 0
        for other in source:
            theirs = list(chain(*keys[column : column + len(other)]))
            column += len(other)
            sums.append(
                sum(
                    part * share * weights[query - (timing == "prediction")][key]
                    for query, part in own
                    for key, share in theirs
                )
            )
        links.add((sums.index(max(sums)), number))
    return links


def letters(labels: Sequence[str]) -> list[list[tuple[int, float]]]:
    """For each character the pieces it is of and its part of them; a mark alone is of the next."""
    found, waiting = [], []
    for position, label in enumerate(labels):
        spelled = "" if label in ("<bos>", "<eos>") else label.replace("▁", "")
        waiting += [(position, 1.0)] if label == "▁" else []
        for _ in spelled:
            found.append([*waiting, (position, 1 / len(spelled))])
            waiting = []
    return found
