import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from explorer.core.vocabulary import PAD
from explorer.data.batch import Batch
from explorer.data.parallel_corpus import parse_pairs
from explorer.training.translation_metrics import mean_loss, score, translate
from tests.support.toy_sentences import as_table

PAIRS = parse_pairs(as_table().encode(), "pairs.tsv")


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
    assert mean_loss(model, [batch]).perplexity == pytest.approx(
        math.exp(np.mean(losses)), rel=1e-4
    )
    halves = [Batch(batch.source[at : at + 8], batch.target[at : at + 8]) for at in (0, 8)]
    assert mean_loss(model, halves).perplexity == pytest.approx(math.exp(np.mean(losses)), rel=1e-4)


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


def test_the_smoothed_loss_is_that_of_training(trained):
    batch = trained.data_module.batch(3)
    model = trained.model.eval()
    with torch.no_grad():
        logits = model(batch.source, batch.target[:, :-1]).flatten(0, 1)
    expected = F.cross_entropy(
        logits, batch.target[:, 1:].flatten(), ignore_index=PAD, label_smoothing=0.1
    )
    assert mean_loss(model, [batch], 0.1).smoothed == pytest.approx(expected.item(), rel=1e-5)
