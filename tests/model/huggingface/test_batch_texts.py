from dataclasses import replace

import pytest
import torch
import transformers

from explorer.core.errors import ConfigError, VocabularyError
from explorer.model.evaluation_batch import TokenKind
from explorer.model.huggingface.batch_texts import BatchTexts
from explorer.model.huggingface.tokens import Tokens
from tests.support.huggingface_families import EOS

TEXTS = ["5 17 8 41 9 23", "9 9 30 31 32 33 34 35", "12"]


class WithMask(Tokens):
    mask_id = 41


def texts_of(model, tokens=None):
    settings = model.passes.settings
    return BatchTexts(model.model, model.anatomy, tokens or model.tokens, model.positions, settings)


def test_sources_have_the_output_of_a_trace_as_target(opened):
    model = opened("marian")
    batch = texts_of(model).texts(TEXTS, "three")
    assert batch.targets == "greedy"
    for text, labels in zip(TEXTS, batch.labels.ids.tolist(), strict=True):
        trace = model.trace(text)
        predicted = [int(token) for token in trace.predicted_tokens]
        assert labels[: len(predicted)] == predicted
    assert batch.queries.kinds[:, 0].tolist() == [TokenKind.END] * 3  # the start is also the end


def test_the_beginning_of_an_output_follows_the_start_or_the_prompt(opened):
    batch = texts_of(opened("marian")).begun(["5 6", "7"], ["7 8", None], "two")
    assert batch.queries.ids.tolist()[0] == [EOS, 7, 8]
    assert batch.labels.real.tolist() == [[False, False, True], [True, False, False]]
    model = opened("gemma2")
    read = model.tokens.source("5 6")[0]
    alone = texts_of(model).begun(["5 6"], ["7"], "one")
    assert alone.source is None
    assert alone.queries.ids.tolist() == [[*read, 7]]
    assert alone.labels.real[0].tolist() == [*[False] * len(read), True]
    filling = texts_of(opened("bert"), WithMask(None, 67))
    assert filling.begun(["5 41 6"], [None], "one").labels.real.tolist() == [[False, True, False]]
    with pytest.raises(ConfigError) as caught:
        filling.begun(["5 41 6"], ["7"], "one")
    assert caught.value.key == "no_decoder"


def test_targets_begin_and_end_as_in_decoding(opened):
    texts = texts_of(opened("marian"))
    batch = texts.pairs([("5", "7 8"), ("9 9", "6")], "two")
    assert batch.queries.ids[0].tolist() == [EOS, 7, 8]
    assert batch.labels.ids[0].tolist() == [7, 8, EOS]
    assert batch.labels.real.tolist() == [[True] * 3, [True, True, False]]

    class First(type(texts.settings)):
        first = 50

    settings = First(texts.settings.model, texts.settings.size)
    batch = replace(texts, settings=settings).pairs([("5", "7"), ("5", "50 7")], "two")
    assert batch.queries.ids.tolist() == [[EOS, 50, 7]] * 2


def test_a_text_predicts_its_next_tokens(opened):
    batch = texts_of(opened("llama")).texts(TEXTS, "three")
    assert batch.source is None
    assert batch.labels.lengths.tolist() == [5, 7, 0]  # one token predicts nothing
    assert batch.labels.ids[0, :5].tolist() == batch.queries.ids[0, 1:6].tolist()


def test_masks_are_drawn_from_the_seed_among_the_content(opened):
    texts = texts_of(opened("bert"), WithMask(None, 67))
    batch = texts.texts(TEXTS, "three", seed=3)
    assert batch.targets == "masked"
    assert batch.labels.lengths.tolist() == [1, 1, 1]
    hidden = batch.labels.real
    assert (batch.source.ids[hidden] == 41).all()
    whole = texts.texts(TEXTS, "three", seed=4)
    assert torch.equal(batch.labels.ids, whole.labels.ids)
    again, other = (texts.texts(TEXTS * 9, "x", seed).labels.kinds for seed in (3, 5))
    assert torch.equal(again, texts.texts(TEXTS * 9, "x", 3).labels.kinds)
    assert not torch.equal(again, other)


def test_without_a_mask_or_a_head_nothing_is_predicted(opened):
    model = opened("bert")
    bare = replace(texts_of(model), model=transformers.BertModel(model.model.config))
    for texts in (texts_of(model), replace(bare, tokens=WithMask(None, 67))):
        batch = texts.texts(TEXTS, "three", 0)
        assert not texts.predicts_tokens
        assert batch.targets == "none"
        assert not batch.labels.real.any()
        assert batch.source.ids[0, :6].tolist() == [5, 17, 8, 41, 9, 23]


def test_a_text_that_is_too_long_is_refused(opened):
    texts = texts_of(opened("marian"))
    long = " ".join(["5"] * 41)
    for key, pair in [("long_source", (long, "5")), ("long_target", ("5", long))]:
        with pytest.raises(VocabularyError) as caught:
            texts.pairs([pair], "one")
        assert caught.value.key == key
