from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from explorer.core.errors import VocabularyError
from explorer.model import batched_traces
from explorer.model.explorable import ExplorableModel
from explorer.model.transformer import Transformer

TEXTS = ["1 2 3", "甲", "3 3 1 2 甲 <b>", "2", "1 2 3", "3 3 3 3"]


def model_like(explorable: ExplorableModel, **changes: object) -> ExplorableModel:
    """A model with other sizes and random weights."""
    torch.manual_seed(3)
    config = replace(explorable.transformer.config, **changes)
    checkpoint = replace(explorable.checkpoint, model=Transformer(config).eval())
    return ExplorableModel(checkpoint, "other")


def assert_equal_traces(model: ExplorableModel, texts: list[str]) -> None:
    """Each trace of a batch equals that of its text alone."""
    for text, found in zip(texts, model.traces(texts), strict=True):
        alone = model.trace(text)
        assert found.text == alone.text
        assert found.source_tokens == alone.source_tokens
        assert found.target_tokens == alone.target_tokens
        assert found.predicted_tokens == alone.predicted_tokens
        assert found.sites == alone.sites
        for site in alone.sites:
            np.testing.assert_allclose(
                found.attention(site), alone.attention(site), rtol=0, atol=2e-6
            )
            np.testing.assert_array_equal(found.mask(site), alone.mask(site))
            np.testing.assert_array_equal(found.mask_reason(site), alone.mask_reason(site))
        pd.testing.assert_frame_equal(found.steps(), alone.steps(), rtol=1e-4, atol=1e-6)
        assert set(found.arrays) == set(alone.arrays)
        assert found.measured == pytest.approx(alone.measured, abs=1e-4)
        assert {**alone.facts, "batched": found.facts["batched"]} == found.facts


@pytest.mark.parametrize("most", [1, 12, 2048])
def test_traces_of_a_batch_are_those_of_each_text(explorable, monkeypatch, most):
    monkeypatch.setattr(batched_traces, "MOST_TOKENS", most)
    assert_equal_traces(explorable, TEXTS)


@pytest.mark.parametrize("changes", [{"norm": "post"}, {"causal": False}])
def test_other_models_are_traced_alike(explorable, changes):
    assert_equal_traces(model_like(explorable, **changes), TEXTS)


def test_batches_are_of_similar_length_and_hold_every_text(monkeypatch):
    monkeypatch.setattr(batched_traces, "MOST_TOKENS", 8)
    sources = [[1] * length for length in (3, 9, 1, 4, 2)]
    assert list(batched_traces._batches(sources, 5)) == [[2, 4], [0, 3], [1]]


def test_a_large_vocabulary_makes_batches_of_few_texts(explorable, monkeypatch):
    """As if no output ended before the last position."""
    config = explorable.transformer.config
    two = 2 * config.max_length * config.target_vocabulary
    for most, counts in [(two, {2}), (two - 1, {1}), (0, {1})]:
        monkeypatch.setattr(batched_traces, "MOST_LOGITS", most)
        found = explorable.traces(TEXTS)
        assert {trace.facts["batched"] for trace in found} == counts


def test_no_texts_have_no_traces(explorable):
    assert explorable.traces([]) == []


def test_any_iterable_of_texts_but_one_text_is_read(explorable):
    given = (text for text in ("1 2", "3"))
    assert [trace.text for trace in explorable.traces(given)] == [
        explorable.trace(text).text for text in ("1 2", "3")
    ]
    for texts in ("1 2", None, 3):
        with pytest.raises(VocabularyError, match="a list of strings"):
            explorable.traces(texts)


def test_a_text_that_is_too_long_is_refused(explorable):
    with pytest.raises(VocabularyError, match="at most"):
        explorable.traces(["1 2", "1 " * 90])
