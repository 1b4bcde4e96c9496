import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from explorer.core.errors import PairsError, VocabularyError
from explorer.core.vocabulary import BOS, EOS, PAD
from explorer.data.batch import Batch
from explorer.data.parallel_corpus import PARTS, parse_pairs, references
from explorer.model.checkpoint import Checkpoint, from_bytes, to_bytes
from explorer.model.explorable import ExplorableModel
from explorer.training.final_evaluation import evaluate_checkpoint, evaluate_translations
from explorer.training.trainer import Trainer
from explorer.training.translation_data import TranslationDataModule
from explorer.training.translation_metrics import score, token_loss, translate
from tests.support.toy_sentences import SENTENCES, TINY_PAIRS, as_table

CPU = torch.device("cpu")
PAIRS = parse_pairs(as_table().encode(), "pairs.tsv")


@pytest.fixture(scope="module")
def data() -> TranslationDataModule:
    return TranslationDataModule(TINY_PAIRS, PAIRS, CPU)


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Trainer:
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    path.write_text(as_table(), "utf-8")
    trainer = Trainer(replace(TINY_PAIRS, pairs=str(path)))
    for _ in trainer.run():
        pass
    return trainer


def texts(data: TranslationDataModule, ids: torch.Tensor) -> list[str]:
    return [data.source_vocabulary.decode(row) for row in ids.tolist()]


def test_a_batch_begins_ends_and_is_padded_as_every_batch(data):
    batch = data.batch(0)
    for row in batch.source.tolist():
        assert row.count(EOS) == 1
        assert set(row[row.index(EOS) + 1 :]) <= {PAD}
    for row in batch.target.tolist():
        assert row[0] == BOS
        assert row.count(EOS) == 1
        assert set(row[row.index(EOS) + 1 :]) <= {PAD}


def test_without_joining_an_epoch_sees_every_pair_once_and_no_held_out_one():
    config = replace(TINY_PAIRS, joined=0.0, batch=12)
    data = TranslationDataModule(config, PAIRS, CPU)
    training = {(pair.source, pair.target) for pair in PAIRS.part("training")}
    assert len(training) // 12 == 18
    seen = []
    for step in range(18):
        batch = data.batch(step)
        seen += zip(texts(data, batch.source), texts(data, batch.target), strict=True)
    assert len(seen) == len(set(seen)) == 216
    assert set(seen) <= training
    again = TranslationDataModule(config, PAIRS, CPU)
    assert torch.equal(again.batch(40).source, data.batch(40).source)  # no state but the step
    assert not torch.equal(data.batch(18).source, data.batch(0).source)


def test_joined_pairs_are_whole_pairs_side_by_side_and_never_too_long():
    config = replace(TINY_PAIRS, joined=1.0, longest=48)
    data = TranslationDataModule(config, PAIRS, CPU)
    known = dict(SENTENCES)
    longer = 0
    for step in range(12):
        batch = data.batch(step)
        assert batch.source.size(1) <= 48 + 1
        assert batch.target.size(1) <= 48 + 2
        pairs = zip(texts(data, batch.source), texts(data, batch.target), strict=True)
        for source, target in pairs:
            parts = [f"{part.strip()}." for part in source.split(".") if part]
            assert " ".join(known[part] for part in parts) == target
            longer += len(parts) > 1
    assert longer > 20


def test_overlong_pairs_of_every_part_are_left_out_and_counted(make_model):
    long = " ".join(["very"] * 80)
    rows = [f"{number} {long}\tcourt\n{number} court\t{long}\n" for number in range(40)]
    pairs = parse_pairs((as_table() + "".join(rows) + f"{long * 100}\tx\n").encode(), "x.tsv")
    data = TranslationDataModule(TINY_PAIRS, pairs, CPU)
    overlong = {part: sum(long in p.source + p.target for p in pairs.part(part)) for part in PARTS}
    assert min(overlong.values()) > 0  # there are some in every part
    assert data.overlong == overlong["training"] + overlong["dev"]
    assert data.facts()["pairs"]["overlong"] == data.overlong
    assert data.facts()["pairs"]["kept"] == 240 + 81
    model = make_model(data.model_config)
    assert data.measure(model)["bleu"] < 5  # nothing in it is longer than the model
    checkpoint = Checkpoint(model, data.source_vocabulary, data.target_vocabulary, {})
    path_facts = evaluate_translations(checkpoint, pairs).facts
    assert path_facts["test_overlong"] == overlong["test"]
    with pytest.raises(VocabularyError, match="at most 66"):
        translate(model, data.source_vocabulary, data.target_vocabulary, [f"{long} {long}"])


def test_a_dev_part_of_overlong_pairs_alone_is_refused():
    dev = {pair.source for pair in PAIRS.part("dev")}
    rows = [f"{s}\t{t}{' x' * 60 if s in dev else ''}\n" for s, t in SENTENCES]
    with pytest.raises(PairsError, match="No held-out pair"):
        TranslationDataModule(TINY_PAIRS, parse_pairs("".join(rows).encode(), "x.tsv"), CPU)


def test_too_few_to_fill_a_batch_are_refused():
    with pytest.raises(PairsError, match="fewer than a batch"):
        TranslationDataModule(replace(TINY_PAIRS, batch=500), PAIRS, CPU)


def test_excluded_sources_are_never_trained_on_however_they_are_written(tmp_path):
    chosen = PAIRS.part("training")[:5]
    path = tmp_path / "excluded.tsv"
    path.write_text("".join(f"{p.source.upper().rstrip('.')}!\tx\n" for p in chosen), "utf-8")
    config = replace(TINY_PAIRS, excluded=str(path), joined=0.0, batch=211)
    data = TranslationDataModule(config, PAIRS, CPU)
    assert data.excluded == data.facts()["pairs"]["excluded"] == 5
    seen = set(texts(data, data.batch(0).source))
    assert len(seen) == 211
    assert not seen & {pair.source for pair in chosen}


@pytest.mark.parametrize("stop", [3, 17])
def test_a_resumed_translation_training_goes_on_exactly(pairs_file, stop):
    """Through the end of an epoch, with everything random that a training on pairs has."""
    config = replace(
        TINY_PAIRS, pairs=str(pairs_file), steps=24, evaluate_every=6, dropout=0.2,
        batch_tokens=600, subword_alpha=0.3, swapped=0.5, copied=0.1, unpunctuated=0.1, average=10,
    )  # fmt: skip
    uninterrupted = Trainer(config)
    expected = [moment for moment in uninterrupted.run() if moment]
    assert len(uninterrupted.state()["lesson.epoch_starts"]) > 1
    first = Trainer(config)
    for _ in first.run():
        if first.step == stop:
            break
    second = Trainer(config, first.state())
    later = [moment for moment in second.run() if moment]
    assert [m.loss for m in later] == [m.loss for m in expected][-len(later) :]
    for ours, theirs in zip(
        second.model.parameters(), uninterrupted.model.parameters(), strict=True
    ):
        assert torch.equal(ours, theirs)


def test_two_vocabularies_learn_each_its_side():
    data = TranslationDataModule(replace(TINY_PAIRS, joint=False, pieces=350), PAIRS, CPU)
    assert data.source_vocabulary != data.target_vocabulary
    assert data.model_config.source_vocabulary == len(data.source_vocabulary)
    assert data.model_config.target_vocabulary == len(data.target_vocabulary)
    assert not data.model_config.tied_embeddings


def test_it_learns_to_translate_what_it_never_saw(trained):
    moment = trained.moment
    assert moment.measured["bleu"] > 80
    assert moment.score == moment.measured["bleu"] / 100
    assert moment.measured["perplexity"] < 1.5
    assert set(moment.measured["samples"][0]) == {"source", "written", "reference"}
    source, reference = trained.data_module.probe()
    assert dict(SENTENCES)[source] == reference


def test_the_whole_model_fits_in_one_file_and_translates_as_before(trained):
    checkpoint = trained.checkpoint({})
    data = to_bytes(checkpoint, half=True)
    again = from_bytes(data, "x")
    assert len(data) < 0.75 * len(to_bytes(checkpoint))
    assert again.source_vocabulary == checkpoint.source_vocabulary
    config = trained.config
    assert evaluate_checkpoint(again, config).facts["bleu"] > 80
    text = PAIRS.part("test")[0].source
    trace = ExplorableModel(again, "tiny").trace(text)
    assert (
        trace.text
        == translate(again.model, again.source_vocabulary, again.target_vocabulary, [text])[0]
    )
    assert trace.integrity().ok.all()
    assert trace.gold is None


def test_translations_keep_their_order_whatever_their_length(trained):
    chosen = [pair.source for pair in PAIRS.pairs[::7]] + ["Now."]
    vocabulary = trained.data_module.source_vocabulary
    together = translate(trained.model.eval(), vocabulary, vocabulary, chosen)
    alone = [translate(trained.model, vocabulary, vocabulary, [text])[0] for text in chosen]
    assert together == alone


def test_perplexity_is_the_exponent_of_the_mean_loss(trained):
    batch = trained.data_module.batch(3)
    model = trained.model.eval()
    with torch.no_grad():
        log = F.log_softmax(model(batch.source, batch.target[:, :-1]), -1)
    expected = batch.target[:, 1:]
    losses = [
        -log[row, place, token].item()
        for row, tokens in enumerate(expected.tolist())
        for place, token in enumerate(tokens)
        if token != PAD
    ]
    assert token_loss(model, [batch]).perplexity == pytest.approx(
        math.exp(np.mean(losses)), rel=1e-4
    )
    halves = [Batch(batch.source[at : at + 8], batch.target[at : at + 8]) for at in (0, 8)]
    assert token_loss(model, halves).perplexity == pytest.approx(
        math.exp(np.mean(losses)), rel=1e-4
    )


def test_scores_count_every_reference_and_say_how():
    written = ["the cat sat on the mat today", "a dog ran home very fast"]
    right = [["nothing like it", "the cat sat on the mat today"], ["a dog ran home very fast"]]
    scores = score(written, right)
    assert scores.bleu == pytest.approx(100)
    assert scores.chrf == pytest.approx(100)
    assert scores.length_ratio == pytest.approx(1)
    assert "tok:13a" in scores.bleu_signature
    assert "version" in scores.chrf_signature
    right[0] = right[0][1:]
    worse = score(["the cat sat on", "a dog ran home very fast"], right)
    assert worse.bleu < 80
    assert worse.length_ratio < 1


@pytest.mark.parametrize(
    ("text", "wrong", "tokenizer"),
    [
        ("我昨天买了三本书。", "我昨天买了两本书。", "zh"),
        ("私は昨日本を三冊買いました。", "私は昨日本を二冊買いました。", "char"),
        ("Я вчера купил три книги сам.", "Я вчера купил две книги сам.", "13a"),
    ],
)
def test_bleu_counts_what_is_a_word_in_the_language(text, wrong, tokenizer):
    scores = score([wrong, text], [[text], [text]])
    assert f"tok:{tokenizer}" in scores.bleu_signature
    assert 60 < scores.bleu < 95


def test_joined_texts_are_judged_against_every_way_to_join_and_beside_their_parts(trained):
    facts = evaluate_checkpoint(trained.checkpoint({}), trained.config).facts
    assert facts["test_sources"] == 12
    assert facts["test_overlong"] == 0
    held = references(PAIRS.part("test"))
    texts = list(held)
    vocabulary = trained.data_module.source_vocabulary
    short = [
        text for text in texts if max(map(len, vocabulary.encode_all([text, *held[text]]))) < 22
    ]
    written = dict(zip(texts, translate(trained.model, vocabulary, vocabulary, texts), strict=True))
    random = np.random.default_rng(0)
    size = len(short)
    groups = [[short[at] for at in random.choice(size, 3, replace=False)] for _ in range(100)]
    right = [[" ".join(held[text][0] for text in group)] for group in groups]
    apart = score([" ".join(written[text] for text in group) for group in groups], right)
    assert facts["joined_bleu_one_by_one"] == pytest.approx(apart.bleu, abs=0.01)
    together = translate(trained.model, vocabulary, vocabulary, [" ".join(g) for g in groups])
    assert facts["joined_bleu"] == pytest.approx(score(together, right).bleu, abs=0.01)
