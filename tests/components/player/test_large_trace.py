import numpy as np
import pytest

from explorer.components.player import large_trace
from explorer.components.player.large_trace import (
    gold_weights,
    is_large,
    site_facts,
    site_pictures,
    words_without_weights,
)
from explorer.components.player.pictures import picture_codes, shrunk_codes, shrunk_weights
from explorer.core.trace import Trace
from explorer.core.words import has_words, merge, word_axes
from tests.support.example_traces import example_trace, pieces_trace, random_trace

MANY = 20_000  # maps, so that even small ones are shrunk


def test_a_trace_is_large_from_four_megabytes_of_weights_on():
    small = (example_trace(), pieces_trace(), random_trace(64, 64, 6, 8))
    assert not any(map(is_large, (*small, random_trace(140, 140, 4, 8))))
    assert is_large(random_trace(160, 160, 4, 8))


@pytest.mark.parametrize("trace", [pieces_trace(), example_trace()])
def test_the_weights_of_words_count_too(trace, monkeypatch):
    own = [trace, merge(trace)] if has_words(trace) else [trace]
    weights = sum(2 * one.attention(site).size for one in own for site in one.sites)
    monkeypatch.setattr(large_trace, "MOST_WEIGHTS", weights)
    assert not is_large(trace)
    monkeypatch.setattr(large_trace, "MOST_WEIGHTS", weights - 1)
    assert is_large(trace)


@pytest.mark.parametrize("unit", ["pieces", "words"])
def test_every_head_has_a_picture(unit):
    trace = pieces_trace() if unit == "words" else random_trace(20, 24)
    shown = merge(trace) if unit == "words" else trace
    arrays, headers = site_pictures(trace, MANY, word_axes(trace) if unit == "words" else None)
    for site in trace.sites:
        weights, mask_codes = shown.attention(site), shown.closed(site)
        size = headers[site]["picture"]
        assert headers[site]["shape"] == weights.shape
        assert max(size) <= 7
        expected = picture_codes(shrunk_weights(weights, mask_codes, *size), 1.0)
        np.testing.assert_array_equal(arrays[f"{site}.pictures"], expected)
        masks = arrays[f"{site}.pictures.closed"]
        np.testing.assert_array_equal(masks.reshape(size), shrunk_codes(mask_codes, *size))
        assert headers[site]["reasons"] == sorted(set(mask_codes[mask_codes > 0].tolist()))


def test_masks_that_differ_are_shrunk_by_layer():
    masks = [np.tril(np.ones((4, 4), bool)), np.eye(4, dtype=bool)]
    weights = np.stack([mask / mask.sum(-1, keepdims=True) for mask in masks])[:, None]
    trace = Trace.from_arrays((), "abcd", decoder=weights, masks={"decoder": masks})
    arrays, headers = site_pictures(trace, 1)
    masked = arrays["decoder.pictures.closed"]
    np.testing.assert_array_equal(masked, trace.arrays["decoder.closed"])
    assert headers["decoder"]["reasons"] == [1, 4]


def test_gold_weights_are_means_over_the_rows_with_gold():
    trace = example_trace()
    gold = trace.gold
    rows = gold.any(-1)
    found = np.array(gold_weights(trace))
    for layer, head in np.ndindex(2, 4):
        weights = trace.attention("cross")[layer, head]
        assert found[layer, head] == pytest.approx(weights[gold].sum() / rows.sum(), abs=1e-6)
    assert gold_weights(random_trace(4, 4)) is not None
    assert gold_weights(Trace.from_arrays(["a"], encoder=np.ones((1, 1, 1, 1)))) is None


def test_words_have_everything_but_the_maps():
    trace = pieces_trace()
    whole, thin = merge(trace), words_without_weights(trace)
    assert thin.target_tokens == whole.target_tokens
    assert thin.steps().equals(whole.steps())
    np.testing.assert_array_equal(thin.gold, whole.gold)
    assert thin.attention("cross").shape[:2] == (1, 1)


def test_layers_have_their_numbers_and_removed_heads_their_place():
    weights = np.full((2, 3, 2, 2), 0.5)
    trace = Trace.from_arrays(["a", "b"], encoder=weights)
    facts = {
        "layer_numbers": {"encoder": [4, 9]},
        "model_layers": {"encoder": 12},
        "captured_layers": {"encoder": [4, 9]},
        "interventions": ["ablate encoder.9.2", "ablate encoder.3.1"],
    }
    part = Trace(trace.source_tokens, (), (), "", trace.arrays, facts=facts)
    assert site_facts(part, "encoder") == {"numbers": (4, 9), "removed": [(1, 2, "zero")]}
