from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from explorer.core.errors import EvaluationBatchError, PairsError, VocabularyError
from explorer.core.vocabulary import BOS, EOS, PAD
from explorer.data.parallel_corpus import read_pairs, references
from explorer.data.toy_data import held_out
from explorer.heads.metrics import batch_names, evaluation_batches
from explorer.heads.metrics.evaluation_batches import (
    SENTENCES,
    given_sentences,
    held_out_pairs,
    parts,
    read_texts,
    repeated_sequences,
    task_sentences,
    token_losses,
)
from explorer.model.checkpoint import Checkpoint
from explorer.model.explorable import ExplorableModel
from explorer.model.transformer_passes import token_rows


def test_task_sentences_are_held_out_and_of_all_lengths(explorable):
    batch = task_sentences(explorable, 40)
    sources, queries, labels = batch.source.ids, batch.queries.ids, batch.labels.ids
    lengths = (sources > EOS).sum(1)
    assert torch.bincount(lengths).tolist() == [0, *[4] * 10]
    inside = sources[:, :-1] - 3
    long = lengths >= 6  # of five symbols, too few of length 5 are held out
    assert held_out(inside[long], lengths[long]).all()
    assert batch.targets == "task"
    for source, fed, follows in zip(
        sources.tolist(), queries.tolist(), labels.tolist(), strict=True
    ):
        symbols = [token for token in source if token > EOS]
        padding = [PAD] * (len(fed) - len(symbols) - 1)
        assert fed == [BOS, *symbols[::-1], *padding]
        assert follows == [*symbols[::-1], EOS, *padding]


def test_task_sentences_depend_on_size_and_seed_alone(explorable):
    assert len(task_sentences(explorable, 3)) == 3
    one, same, other = (task_sentences(explorable, 20, seed).source.ids for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


def test_more_sentences_than_can_be_drawn_are_refused(explorable, monkeypatch):
    monkeypatch.setattr(evaluation_batches, "MOST_TASK_SENTENCES", 20)
    assert len(task_sentences(explorable, 20)) == 20
    with pytest.raises(EvaluationBatchError, match="At most 20 sentences of a task"):
        task_sentences(explorable, 21)


def test_a_part_has_as_many_sentences_as_its_attention_and_logits_allow(explorable, monkeypatch):
    batch = task_sentences(explorable, 40)
    assert [len(part) for part in parts(explorable, batch)] == [32, 8]
    monkeypatch.setattr(evaluation_batches, "LARGEST_ATTENTION", 3 * 15 * batch.longest**2)
    assert {len(part) for part in parts(explorable, batch)} == {1, 3}
    monkeypatch.setattr(evaluation_batches, "LARGEST_LOGITS", 0)
    assert {len(part) for part in parts(explorable, batch)} == {1}


def test_a_sentence_of_too_many_logits_is_refused_before_any_part(explorable, monkeypatch):
    batch = task_sentences(explorable, 40)
    rows, entries = batch.labels.ids.size(1), explorable.passes.logits_size
    monkeypatch.setattr(evaluation_batches, "MOST_OF_A_SENTENCE", rows * entries)
    assert next(parts(explorable, batch))
    monkeypatch.setattr(evaluation_batches, "MOST_OF_A_SENTENCE", rows * entries - 1)
    with pytest.raises(EvaluationBatchError) as caught:
        next(parts(explorable, batch))
    assert caught.value.facts == {"got": rows, "entries": entries, "limit": rows - 1}


def test_token_losses_by_hand():
    logits = torch.tensor([[[0.0, 0, 0], [0, 0, 9], [5, 0, 0]]])
    losses = token_losses(logits, token_rows([[1, 2, PAD]]))
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
        lambda: explorable.passes.pairs([], "none"),
        lambda: explorable.passes.texts([], "none"),
    ):
        with pytest.raises(EvaluationBatchError) as caught:
            make()
        assert caught.value.key == "no_sentences"
    with pytest.raises(VocabularyError) as refused:
        explorable.passes.pairs([("1", "1 " * 11)], "long")
    assert refused.value.key == "long_target"


def test_held_out_pairs_are_the_dev_part_of_a_file(pairs_file):
    dev = read_pairs(pairs_file).part("dev")
    held, name = held_out_pairs(pairs_file, 8)
    assert len(held) == 8
    assert name == batch_names.written("dev", name=pairs_file.name)
    assert held == [(source, targets[0]) for source, targets in references(dev).items()][:8]
    assert len(held_out_pairs(pairs_file, 500)[0]) == 240
    few = pairs_file.with_name("few.tsv")
    few.write_text("I see.\tJe vois.\nI see.\tJe vois.\nNow.\tMaintenant.\n", "utf-8")
    assert held_out_pairs(few, 2)[0] == [("I see.", "Je vois."), ("Now.", "Maintenant.")]
    few.write_text("one column\n", "utf-8")
    with pytest.raises(PairsError, match="Row 1"):
        held_out_pairs(few, 5)


def test_given_sentences_are_texts_pairs_or_those_of_the_task(explorable):
    texts = given_sentences(explorable, ["1 2", "3"])
    assert (len(texts), texts.targets, texts.name) == (2, "greedy", "texts")
    pairs = given_sentences(explorable, [("1 2", "2 1"), ["3", "3"]])
    assert (len(pairs), pairs.targets, pairs.name) == (2, "given", "pairs")
    assert pairs.labels.ids.tolist() == [[4, 3, EOS], [5, EOS, PAD]]
    for same in (np.array(["1 2", "3"]), pd.Series(["1 2", "3"]), iter(["1 2", "3"])):
        assert given_sentences(explorable, same).labels.ids.tolist() == texts.labels.ids.tolist()
    drawn = given_sentences(explorable, None)
    assert (len(drawn), drawn.targets) == (SENTENCES, "task")
    bare = replace(explorable, checkpoint=replace(explorable.checkpoint, facts={}))
    with pytest.raises(EvaluationBatchError, match="no task that makes sentences"):
        given_sentences(bare, None)


@pytest.mark.parametrize(
    "texts",
    [
        "1 2",
        5,
        {"1": "2"},
        [5],
        ["1", ("1", "2")],
        [("1", "2"), "1"],
        [("1",)],
        [("1", 2)],
        np.array("1 2"),
        np.array([7]),
        b"1 2",
    ],
)
def test_what_is_no_list_of_texts_is_refused(explorable, texts):
    with pytest.raises(EvaluationBatchError, match="a list of sentences, or one of pairs"):
        given_sentences(explorable, texts)


def test_an_array_of_pairs_is_one_of_pairs(explorable):
    pairs = given_sentences(explorable, [("1 2", "2 1"), ("3", "3")])
    array = given_sentences(explorable, np.array([["1 2", "2 1"], ["3", "3"]]))
    assert array.labels.ids.tolist() == pairs.labels.ids.tolist()


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_a_missing_text_is_named(missing, explorable):
    for given in (["1 2", missing], pd.Series(["1 2", missing], dtype=object)):
        with pytest.raises(EvaluationBatchError, match="Text 2 is missing") as caught:
            given_sentences(explorable, given)
        assert "dropna()" in caught.value.in_language("zh")


def test_a_whole_table_is_refused_with_its_columns(explorable):
    with pytest.raises(EvaluationBatchError, match=r"one column.*columns en, fr") as caught:
        given_sentences(explorable, pd.DataFrame({"en": ["1 2"], "fr": ["2 1"]}))
    assert "en, fr" in caught.value.in_language("zh")


def test_no_texts_are_refused(explorable):
    with pytest.raises(EvaluationBatchError, match="no sentence to measure on"):
        given_sentences(explorable, [])


def test_a_repeated_sentence_counts_once(explorable, tmp_path):
    texts = given_sentences(explorable, ["1 2", "3", "1 2", "1 2"])
    assert (len(texts), texts.name) == (2, "texts, 2 repeated left out")
    pairs = given_sentences(explorable, [("1 2", "2 1"), ["1 2", "2 1"], ("1 2", "1 2")])
    assert (len(pairs), pairs.name) == (2, "pairs, 1 repeated left out")
    path = tmp_path / "mine.txt"
    path.write_text("1 2\n1 2\n3\n2 2\n", "utf-8")
    read = read_texts(explorable, path, 2)
    assert (len(read), read.name) == (2, "mine.txt, 1 repeated left out")
    assert read.labels.ids.tolist() == texts.labels.ids.tolist()


@pytest.mark.parametrize("texts", [["1 2", "x"], [("1", "1"), ("1", "x")]])
def test_one_of_several_that_cannot_be_read_is_named(explorable, texts):
    with pytest.raises(VocabularyError, match="Text 2: “x” is not a symbol"):
        given_sentences(explorable, texts)


def test_the_sentences_of_a_continued_task_have_labels_where_the_next_token_is_known(continuing):
    facts = {"task": "induction", "longest": 10}
    model = ExplorableModel(replace(continuing.checkpoint, facts=facts), "alone")
    batch = task_sentences(model, 7)
    assert batch.source is None
    assert batch.queries.ids.shape == (7, 11)
    gold = batch.gold()
    assert gold.shape == (7, 11, 11)
    known = torch.from_numpy(gold.any(-1)) | batch.labels.ends
    assert torch.equal(batch.labels.real, known)
    assert batch.labels.ends.sum() == 7


def test_random_tokens_come_twice_in_a_model_with_a_decoder_alone(continuing, explorable):
    batch = repeated_sequences(continuing, 6, seed=3)
    assert batch.name == "random tokens, a block of 5 twice, seed 3"
    ids = batch.queries.ids
    assert (ids[:, 0] == BOS).all()
    assert torch.equal(ids[:, 1:6], ids[:, 6:])
    assert all(len(set(row)) == 5 for row in ids[:, 1:6].tolist())
    assert batch.labels.real.tolist() == [[False] * 6 + [True] * 4 + [False]] * 6
    assert torch.equal(batch.labels.ids[:, 6:10], ids[:, 7:])
    with pytest.raises(EvaluationBatchError, match="are for models with a decoder alone"):
        repeated_sequences(explorable, 6)
