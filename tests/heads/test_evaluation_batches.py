from dataclasses import replace

import numpy as np
import pytest
import torch

from explorer.core.errors import InterventionError, PairsError, VocabularyError
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


def test_a_task_makes_sentences_of_all_lengths_that_training_never_saw(explorable):
    sentences = task_sentences(explorable, 40)
    lengths = (sentences.source > EOS).sum(1)
    assert torch.bincount(lengths).tolist() == [0, *[4] * 10]
    inside = sentences.source[:, :-1] - 3
    long = lengths >= 5
    assert held_out(inside[long], lengths[long]).all()
    assert sentences.targets == "task"
    for source, target in zip(sentences.source.tolist(), sentences.target.tolist(), strict=True):
        symbols = [token for token in source if token > EOS]
        expected = [BOS, *symbols[::-1], EOS]
        assert target == expected + [PAD] * (len(target) - len(expected))


def test_fewer_sentences_than_lengths_and_the_same_for_a_seed(explorable):
    assert len(task_sentences(explorable, 3)) == 3
    one, same, other = (task_sentences(explorable, 20, seed).source for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_the_end_is_never_a_query_and_padding_never_has_a_label(explorable):
    sentences = pair_sentences(explorable, [("1 2", "3"), ("1", "1 2 3")], "two")
    assert sentences.queries.tolist() == [[1, 5, 0, 0], [1, 3, 4, 5]]
    assert sentences.labels.tolist() == [[5, 2, 0, 0], [3, 4, 5, 2]]
    assert (sentences.targets, sentences.gold()) == ("given", None)


def test_parts_hold_every_sentence_once_without_idle_padding(explorable):
    sentences = task_sentences(explorable, 37)
    parts = list(sentences.parts(8))
    assert sum(map(len, parts)) == 37
    for part in parts:
        assert (part.source != PAD).any(0).all()
        assert (part.target != PAD).any(0).all()
    rows = {
        tuple(token for token in row if token) for part in parts for row in part.source.tolist()
    }
    assert rows == {tuple(token for token in row if token) for row in sentences.source.tolist()}


def test_gold_is_that_of_the_task(explorable):
    sentences = task_sentences(explorable, 10)
    for row, gold in zip(sentences.source.tolist(), sentences.gold(), strict=True):
        symbols = [token for token in row if token > EOS]
        size = len(symbols)
        alignment = find_task("reverse").alignment(symbols)
        np.testing.assert_array_equal(gold[:size, :size], alignment)
        assert gold.sum() == size


def test_a_persons_lines_get_the_greedy_output_as_target(explorable):
    lines = ["1 2 3", "甲", "3 3"]
    sentences = line_sentences(explorable, lines, "mine")
    assert sentences.targets == "greedy"
    for line, target in zip(lines, sentences.target.tolist(), strict=True):
        assert explorable.target_vocabulary.decode(target) == explorable.trace(line).text


def test_losses_are_those_of_the_labels():
    logits = torch.tensor([[[0.0, 0, 0], [0, 0, 9], [5, 0, 0]]])
    losses = token_losses(logits, torch.tensor([[1, 2, PAD]]))
    assert losses[0, 0].item() == pytest.approx(np.log(3))
    assert losses[0, 1].item() == pytest.approx(np.log(1 + 2 * np.exp(-9)), rel=1e-3)
    assert losses[0, 2].item() == 0


def test_what_cannot_be_measured_on_is_refused(explorable):
    checkpoint = explorable.checkpoint
    bare = Checkpoint(
        checkpoint.model, checkpoint.source_vocabulary, checkpoint.target_vocabulary, {}
    )
    with pytest.raises(InterventionError, match="no task"):
        task_sentences(ExplorableModel(bare, "bare"), 3)
    for make in (
        lambda: task_sentences(explorable, 0),
        lambda: task_sentences(explorable, 5).first(0),
        lambda: pair_sentences(explorable, [], "none"),
        lambda: line_sentences(explorable, [], "none"),
    ):
        with pytest.raises(InterventionError) as caught:
            make()
        assert caught.value.key == "no_sentences"
    with pytest.raises(VocabularyError) as refused:
        pair_sentences(explorable, [("1", "1 " * 11)], "long")
    assert refused.value.key == "long_target"


def test_pairs_of_a_file_are_its_dev_part_which_no_training_saw(pairs_file):
    pairs = read_pairs(pairs_file)
    learnt = learn_pieces(
        [text for pair in pairs.pairs for text in (pair.source, pair.target)], 400
    )
    config = replace(TINY_PAIRS.model_config(len(learnt), len(learnt)), max_length=64)
    model = ExplorableModel(Checkpoint(Transformer(config).eval(), learnt, learnt, {}), "tiny")
    held = held_out_sentences(model, pairs_file, 8)
    assert len(held) == 8
    assert held.targets == "given"
    dev = {pair.source for pair in pairs.part("dev")}
    assert {learnt.decode(row) for row in held.source.tolist()} <= dev
    assert len(held_out_sentences(model, pairs_file, 500)) == 240
    few = pairs_file.with_name("few.tsv")
    few.write_text("I see.\tJe vois.\nI see.\tJe vois.\nNow.\tMaintenant.\n", "utf-8")
    assert len(held_out_sentences(model, few, 2)) == 2
    few.write_text("one column\n", "utf-8")
    with pytest.raises(PairsError, match="Row 1"):
        held_out_sentences(model, few, 5)
