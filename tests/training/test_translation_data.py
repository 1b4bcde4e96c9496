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
from explorer.training.final_evaluation import examine, examine_pairs
from explorer.training.trainer import Trainer
from explorer.training.translation_data import PairsLesson, perplexity, score, translate
from tests.support.toy_sentences import SENTENCES, TINY_PAIRS, as_table

CPU = torch.device("cpu")
PAIRS = parse_pairs(as_table().encode(), "pairs.tsv")


@pytest.fixture(scope="module")
def lesson() -> PairsLesson:
    return PairsLesson(TINY_PAIRS, PAIRS, CPU)


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> Trainer:
    path = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    path.write_text(as_table(), "utf-8")
    trainer = Trainer(replace(TINY_PAIRS, pairs=str(path)))
    for _ in trainer.run():
        pass
    return trainer


def texts(lesson: PairsLesson, ids: torch.Tensor) -> list[str]:
    return [lesson.source_vocabulary.decode(row) for row in ids.tolist()]


def test_a_batch_begins_ends_and_is_padded_as_every_batch(lesson):
    batch = lesson.batch(0)
    for row in batch.source.tolist():
        assert row.count(EOS) == 1
        assert set(row[row.index(EOS) + 1 :]) <= {PAD}
    for row in batch.target.tolist():
        assert row[0] == BOS
        assert row.count(EOS) == 1
        assert set(row[row.index(EOS) + 1 :]) <= {PAD}


def test_without_joining_an_epoch_sees_every_pair_once_and_no_held_out_one():
    config = replace(TINY_PAIRS, joined=0.0, batch=12)
    lesson = PairsLesson(config, PAIRS, CPU)
    training = {(pair.source, pair.target) for pair in PAIRS.part("training")}
    assert lesson.steps_an_epoch == len(training) // 12 == 18
    seen = []
    for step in range(18):
        batch = lesson.batch(step)
        seen += zip(texts(lesson, batch.source), texts(lesson, batch.target), strict=True)
    assert len(seen) == len(set(seen)) == 216
    assert set(seen) <= training
    again = PairsLesson(config, PAIRS, CPU)
    assert torch.equal(again.batch(40).source, lesson.batch(40).source)  # no state but the step
    assert not np.array_equal(lesson.batch(18).source, lesson.batch(0).source)


def test_joined_pairs_are_whole_pairs_side_by_side_and_never_too_long():
    config = replace(TINY_PAIRS, joined=1.0, longest=48)
    lesson = PairsLesson(config, PAIRS, CPU)
    known = dict(SENTENCES)
    longer = 0
    for step in range(12):
        batch = lesson.batch(step)
        assert batch.source.size(1) <= 48 + 1
        assert batch.target.size(1) <= 48 + 2
        pairs = zip(texts(lesson, batch.source), texts(lesson, batch.target), strict=True)
        for source, target in pairs:
            parts = [f"{part}." for part in source.rstrip(".").split(". ")]
            assert " ".join(known[part] for part in parts) == target
            longer += len(parts) > 1
    assert longer > 20


def test_overlong_pairs_of_every_part_are_left_out_and_counted(make_model):
    long = " ".join(["very"] * 80)
    rows = [f"{number} {long}\tcourt\n{number} court\t{long}\n" for number in range(40)]
    pairs = parse_pairs((as_table() + "".join(rows) + f"{long * 100}\tx\n").encode(), "x.tsv")
    lesson = PairsLesson(TINY_PAIRS, pairs, CPU)
    overlong = {part: sum(long in p.source + p.target for p in pairs.part(part)) for part in PARTS}
    assert min(overlong.values()) > 0  # there are some in every part
    assert lesson.overlong == overlong["training"] + overlong["dev"]
    assert lesson.facts()["pairs"]["overlong"] == lesson.overlong
    assert lesson.facts()["pairs"]["kept"] == 240 + 81
    model = make_model(lesson.model_config)
    assert lesson.measure(model)["bleu"] < 5  # nothing in it is longer than the model
    checkpoint = Checkpoint(model, lesson.source_vocabulary, lesson.target_vocabulary, {})
    path_facts = examine_pairs(checkpoint, pairs).facts
    assert path_facts["test_overlong"] == overlong["test"]
    with pytest.raises(VocabularyError, match="at most 66"):
        translate(model, lesson.source_vocabulary, lesson.target_vocabulary, [f"{long} {long}"])


def test_a_dev_part_of_overlong_pairs_alone_is_refused():
    dev = {pair.source for pair in PAIRS.part("dev")}
    rows = [f"{s}\t{t}{' x' * 60 if s in dev else ''}\n" for s, t in SENTENCES]
    with pytest.raises(PairsError, match="No held-out pair"):
        PairsLesson(TINY_PAIRS, parse_pairs("".join(rows).encode(), "x.tsv"), CPU)


def test_too_few_to_fill_a_batch_are_refused():
    with pytest.raises(PairsError, match="fewer than a batch"):
        PairsLesson(replace(TINY_PAIRS, batch=500), PAIRS, CPU)


def test_two_vocabularies_learn_each_its_side():
    lesson = PairsLesson(replace(TINY_PAIRS, joint=False, pieces=350), PAIRS, CPU)
    assert lesson.source_vocabulary != lesson.target_vocabulary
    assert lesson.model_config.source_vocabulary == len(lesson.source_vocabulary)
    assert lesson.model_config.target_vocabulary == len(lesson.target_vocabulary)
    assert not lesson.model_config.tied_embeddings


def test_it_learns_to_translate_what_it_never_saw(trained):
    moment = trained.moment
    assert moment.measured["bleu"] > 80
    assert moment.score == moment.measured["bleu"] / 100
    assert moment.measured["perplexity"] < 1.5
    assert set(moment.measured["samples"][0]) == {"source", "written", "reference"}
    source, reference = trained.lesson.probe()
    assert dict(SENTENCES)[source] == reference


def test_the_whole_model_fits_in_one_file_and_translates_as_before(trained):
    checkpoint = trained.checkpoint({})
    data = to_bytes(checkpoint, half=True)
    again = from_bytes(data, "x")
    assert len(data) < 0.75 * len(to_bytes(checkpoint))
    assert again.source_vocabulary == checkpoint.source_vocabulary
    config = trained.config
    assert examine(again, config).facts["bleu"] > 80
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
    vocabulary = trained.lesson.source_vocabulary
    together = translate(trained.model.eval(), vocabulary, vocabulary, chosen)
    alone = [translate(trained.model, vocabulary, vocabulary, [text])[0] for text in chosen]
    assert together == alone


def test_perplexity_is_the_exponent_of_the_mean_loss(trained):
    batch = trained.lesson.batch(3)
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
    assert perplexity(model, [batch]) == pytest.approx(math.exp(np.mean(losses)), rel=1e-4)
    halves = [Batch(batch.source[at : at + 8], batch.target[at : at + 8]) for at in (0, 8)]
    assert perplexity(model, halves) == pytest.approx(math.exp(np.mean(losses)), rel=1e-4)


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
    facts = examine(trained.checkpoint({}), trained.config).facts
    assert facts["test_sources"] == 12
    assert facts["test_overlong"] == 0
    held = references(PAIRS.part("test"))
    texts = list(held)
    vocabulary = trained.lesson.source_vocabulary
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
