from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer.core.vocabulary import BOS, EOS, PAD, TOY_VOCABULARY
from explorer.data.batch import Batch
from explorer.data.toy_data import find_task
from explorer.model.config import ModelConfig
from explorer.model.greedy_decoding import greedy
from explorer.model.hooks import edit
from explorer.training.toy_evaluation import (
    evaluate,
    exact_match_by_length,
    judge,
    mean_by_halves,
    typed_alphabets,
)

CONFIG = ModelConfig(source_vocabulary=8, target_vocabulary=8, d_model=12, heads=3, d_ff=8)


@pytest.mark.parametrize("causal", [True, False])
def test_a_match_is_exact_including_the_end(make_model, causal):
    model = make_model(replace(CONFIG, causal=causal))
    source = torch.tensor([[3, 4, EOS, PAD], [5, EOS, PAD, PAD]])
    decoded = greedy(model, source, limit=6)
    right = torch.cat([torch.full((2, 1), BOS), decoded], 1)
    assert judge(model, Batch(source, right))[1] == 1.0
    wrong = right.clone()
    wrong[1, 1] = 3 + (wrong[1, 1] - 2) % 5
    assert judge(model, Batch(source, wrong))[1] == 0.5


def test_an_output_that_does_not_end_is_not_a_match(make_model):
    model = make_model(CONFIG)
    with torch.no_grad():
        model.logits.bias[EOS] = -100
    source = torch.tensor([[3, EOS]])
    decoded = greedy(model, source, limit=2)
    target = torch.cat([torch.tensor([[BOS]]), decoded[:, :1], torch.tensor([[EOS]])], 1)
    assert judge(model, Batch(source, target))[1] == 0.0


def test_every_length_is_evaluated_and_every_head_scored(make_model):
    evaluation = evaluate(make_model(CONFIG), find_task("reverse"), symbols=5, longest=6, each=9)
    assert list(evaluation.exact_match_by_length) == [1, 2, 3, 4, 5, 6]
    assert evaluation.gold.shape == (2, 3)
    assert np.unravel_index(evaluation.gold.argmax(), (2, 3)) == evaluation.best_head
    assert ((evaluation.gold > 0) & (evaluation.gold < 1)).all()
    shares = list(evaluation.exact_match_by_length.values())
    assert evaluation.exact_match == pytest.approx(sum(shares) / 6)


def test_a_head_with_all_weight_on_gold_scores_1(make_model):
    """Sequences of one symbol have one gold key, the first."""
    model = make_model(CONFIG)

    def only_the_first_key(pattern: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(pattern).index_fill(-1, torch.tensor([0]), 1.0)

    with edit(model, {"decoder.layers.1.cross_attention.pattern": only_the_first_key}):
        evaluation = evaluate(model, find_task("copy"), symbols=5, longest=1, each=9)
    np.testing.assert_allclose(evaluation.gold[1], 1.0)
    assert (evaluation.gold[0] < 1).all()


def test_an_alphabet_is_decoded_alone_as_in_the_whole_evaluation(make_model, monkeypatch):
    seen = []

    def all_match(model: object, batch: Batch) -> tuple[None, float]:
        seen.append(batch.source)
        return None, 1.0

    monkeypatch.setattr("explorer.training.toy_evaluation.judge", all_match)
    model, task = make_model(CONFIG), find_task("sort")
    assert exact_match_by_length(model, task, (3, 4), (2, 4), each=50) == {2: 1.0, 4: 1.0}
    assert [tuple(source.shape) for source in seen] == [(50, 3), (50, 5)]
    assert {token for source in seen for token in source.flatten().tolist()} == {6, 7, EOS}


def test_the_alphabets_of_a_class_are_kinds_of_symbols_and_the_first_three():
    assert typed_alphabets(TOY_VOCABULARY.symbols) == {
        " ".join(TOY_VOCABULARY.symbols): list(range(20)),
        "1 2 3 4 5 6 7 8 9": list(range(9)),
        "a b c d e f g": list(range(9, 16)),
        "甲 乙 丙 丁": [16, 17, 18, 19],
        "1 2 3": [0, 1, 2],
    }
    assert typed_alphabets(("x", "y")) == {"x y": [0, 1]}


def test_the_longer_half_has_the_middle_length():
    assert mean_by_halves({1: 1.0, 2: 0.5, 3: 0.0, 4: 0.5}) == {"1-2": 0.75, "3-4": 0.25}
    assert mean_by_halves({1: 1.0, 2: 0.5, 3: 0.0}) == {"1-1": 1.0, "2-3": 0.25}
    assert mean_by_halves({1: 0.5}) == {"1-1": 0.5}
