import re
from dataclasses import replace

import pytest

from benchmarks.language_model import Trigram
from explorer.model.checkpoint import to_bytes
from explorer.training.trainer import Trainer
from tests.support.benchmark_output import lines_here
from tests.support.toy_sentences import SENTENCES, TINY_TEXTS

ROWS = [[1, 1, 3, 4, 2], [1, 1, 3, 5, 2], [1, 1, 3, 4, 2]]


@pytest.fixture(scope="module")
def trigram() -> Trigram:
    return Trigram(ROWS, pieces=6)


@pytest.mark.parametrize("before", [(1, 1), (1, 3), (3, 4), (4, 3), (5, 5)])
def test_the_probabilities_after_any_two_pieces_sum_to_one(trigram, before):
    assert sum(trigram.probability(*before, last) for last in range(6)) == pytest.approx(1)


def test_probabilities_are_those_of_the_formula(trigram):
    # Triples: 113 thrice, 134 and 342 twice, 135 and 352 once: one discount 2 / (2 + 2 · 2).
    # Pairs have one context each, so 5 of 5 occur once: 13, 34, 42, 35, 52; discount 5 / 5.
    assert trigram.discounts == (1, pytest.approx(1 / 3))
    single = (1 + 0.5) / (5 + 6 * 0.5)  # 4 follows one different piece
    after_3 = 0 + 1 * 2 / 2 * single
    assert trigram.probability(1, 3, 4) == pytest.approx((2 - 1 / 3) / 3 + 1 / 3 * 2 / 3 * after_3)
    assert trigram.probability(9, 3, 4) == pytest.approx(after_3)


def test_a_model_and_a_trigram_are_judged_on_the_same_texts(tmp_path):
    texts, file = tmp_path / "texts.txt", tmp_path / "tiny.safetensors"
    texts.write_text("".join(f"{source}\n" for source, _ in SENTENCES), "utf-8")
    trainer = Trainer(replace(TINY_TEXTS, texts=str(texts), steps=2))
    for _ in trainer.run():
        pass
    file.write_bytes(to_bytes(trainer.checkpoint({})))
    lines = lines_here("language_model", str(file), str(texts))
    assert re.fullmatch(r"\d+ held-out texts, \d+ words and ends", lines[0])
    by_trigram, by_model, ratio = map(float, re.findall(r"(\d+\.\d+)", " ".join(lines[1:])))
    assert 1 < by_trigram < by_model  # two steps are nothing
    assert ratio == pytest.approx(by_model / by_trigram, rel=0.01)
