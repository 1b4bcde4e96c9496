from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer.core.errors import EvaluationBatchError, PairsError, VocabularyError
from explorer.core.sentencepiece_vocabulary import learn_pieces
from explorer.core.vocabulary import BOS, EOS, PAD
from explorer.data.parallel_corpus import read_pairs
from explorer.data.toy_data import find_task, held_out
from explorer.heads.evaluation_batches import (
    held_out_sentences,
    line_sentences,
    pair_sentences,
    task_sentences,
    token_losses,
)
from explorer.model.checkpoint import Checkpoint
from explorer.model.explorable import ExplorableModel
from explorer.model.transformer import Transformer
from tests.support.toy_sentences import TINY_PAIRS


def test_task_sentences_are_held_out_and_of_all_lengths(explorable):
    batch = task_sentences(explorable, 40)
    lengths = (batch.source > EOS).sum(1)
    assert torch.bincount(lengths).tolist() == [0, *[4] * 10]
    inside = batch.source[:, :-1] - 3
    long = lengths >= 6  # of five symbols, too few of length 5 are held out
    assert held_out(inside[long], lengths[long]).all()
    assert batch.targets == "task"
    for source, target in zip(batch.source.tolist(), batch.target.tolist(), strict=True):
        symbols = [token for token in source if token > EOS]
        expected = [BOS, *symbols[::-1], EOS]
        assert target == expected + [PAD] * (len(target) - len(expected))


def test_task_sentences_depend_on_size_and_seed_alone(explorable):
    assert len(task_sentences(explorable, 3)) == 3
    one, same, other = (task_sentences(explorable, 20, seed).source for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_eos_is_not_a_query_and_padding_has_no_label(explorable):
    batch = pair_sentences(explorable, [("1 2", "3"), ("1", "1 2 3")], "two")
    assert batch.queries.tolist() == [[1, 5, 0, 0], [1, 3, 4, 5]]
    assert batch.labels.tolist() == [[5, 2, 0, 0], [3, 4, 5, 2]]
    assert (batch.targets, batch.gold()) == ("given", None)


def test_parts_contain_every_sentence_once_without_extra_padding(explorable):
    batch = task_sentences(explorable, 37)
    parts = list(batch.parts(8))
    assert sum(map(len, parts)) == 37
    for part in parts:
        assert (part.source != PAD).any(0).all()
        assert (part.target != PAD).any(0).all()
    rows = {
        tuple(token for token in row if token) for part in parts for row in part.source.tolist()
    }
    assert rows == {tuple(token for token in row if token) for row in batch.source.tolist()}


def test_gold_is_the_alignment_of_the_task(explorable):
    batch = task_sentences(explorable, 10)
    for row, gold in zip(batch.source.tolist(), batch.gold(), strict=True):
        symbols = [token for token in row if token > EOS]
        size = len(symbols)
        alignment = find_task("reverse").alignment(symbols)
        np.testing.assert_array_equal(gold[:size, :size], alignment)
        assert gold.sum() == size


def test_lines_have_the_greedy_output_as_target(explorable):
    lines = ["1 2 3", "甲", "3 3"]
    batch = line_sentences(explorable, lines, "mine")
    assert batch.targets == "greedy"
    for line, target in zip(lines, batch.target.tolist(), strict=True):
        assert explorable.target_vocabulary.decode(target) == explorable.trace(line).text


def test_token_losses_by_hand():
    logits = torch.tensor([[[0.0, 0, 0], [0, 0, 9], [5, 0, 0]]])
    losses = token_losses(logits, torch.tensor([[1, 2, PAD]]))
    assert losses[0, 0].item() == pytest.approx(np.log(3))
    assert losses[0, 1].item() == pytest.approx(np.log(1 + 2 * np.exp(-9)), rel=1e-3)
    assert losses[0, 2].item() == 0


def test_empty_or_unreadable_batches_are_refused(explorable):
    checkpoint = explorable.checkpoint
    bare = Checkpoint(
        checkpoint.model, checkpoint.source_vocabulary, checkpoint.target_vocabulary, {}
    )
    with pytest.raises(EvaluationBatchError, match="no task"):
        task_sentences(ExplorableModel(bare, "bare"), 3)
    for make in (
        lambda: task_sentences(explorable, 0),
        lambda: task_sentences(explorable, 5).first(0),
        lambda: pair_sentences(explorable, [], "none"),
        lambda: line_sentences(explorable, [], "none"),
    ):
        with pytest.raises(EvaluationBatchError) as caught:
            make()
        assert caught.value.key == "no_sentences"
    with pytest.raises(VocabularyError) as refused:
        pair_sentences(explorable, [("1", "1 " * 11)], "long")
    assert refused.value.key == "long_target"


def test_held_out_sentences_are_the_dev_part_of_a_file(pairs_file):
    pairs = read_pairs(pairs_file)
    vocabulary = learn_pieces(
        [text for pair in pairs.pairs for text in (pair.source, pair.target)], 400
    )
    config = replace(TINY_PAIRS.model_config(len(vocabulary), len(vocabulary)), max_length=64)
    model = ExplorableModel(
        Checkpoint(Transformer(config).eval(), vocabulary, vocabulary, {}), "tiny"
    )
    held = held_out_sentences(model, pairs_file, 8)
    assert len(held) == 8
    assert held.targets == "given"
    dev = {pair.source for pair in pairs.part("dev")}
    assert {vocabulary.decode(row) for row in held.source.tolist()} <= dev
    assert len(held_out_sentences(model, pairs_file, 500)) == 240
    few = pairs_file.with_name("few.tsv")
    few.write_text("I see.\tJe vois.\nI see.\tJe vois.\nNow.\tMaintenant.\n", "utf-8")
    assert len(held_out_sentences(model, few, 2)) == 2
    few.write_text("one column\n", "utf-8")
    with pytest.raises(PairsError, match="Row 1"):
        held_out_sentences(model, few, 5)
