import numpy as np
import pytest

from explorer.components.player.weights import (
    LARGEST_CODE,
    MEAN,
    gold_weights,
    head_payload,
    is_large,
    scale_of,
    site_facts,
    units_of,
    weight_codes,
    words_without_weights,
)
from explorer.core.mask_reasons import UNMASKED
from explorer.core.trace import Trace
from explorer.core.words import has_words, merge
from tests.support.example_traces import example_trace, pieces_trace, random_trace
from tests.support.payloads import unpack_payload


def test_codes_are_linear_and_exact_to_a_fraction_of_a_hundred_thousandth():
    weights = np.random.default_rng(1).random((3, 40, 50), np.float32)
    weights[0, 0, :2] = 0, 1
    codes = weight_codes(weights, scale_of(weights))
    assert codes.dtype == np.uint16
    assert np.abs(codes / LARGEST_CODE - weights).max() <= 7.7e-6
    assert codes[0, 0, :2].tolist() == [0, LARGEST_CODE]


def test_the_largest_code_stands_for_a_weight_above_1():
    weights = np.array([[0.5, 2.0]], np.float32)
    assert scale_of(weights) == 2
    assert weight_codes(weights, 2.0).tolist() == [[16384, LARGEST_CODE]]


def test_a_trace_is_large_from_four_megabytes_of_weights_on():
    small = (example_trace(), pieces_trace(), random_trace(64, 64, 6, 8))
    assert not any(map(is_large, (*small, random_trace(140, 140, 4, 8))))
    assert is_large(random_trace(160, 160, 4, 8))


@pytest.mark.parametrize("trace", [pieces_trace(), example_trace()])
def test_the_weights_of_words_count_too(trace, monkeypatch):
    own = [trace, merge(trace)] if has_words(trace) else [trace]
    weights = sum(2 * one.attention(site).size for one in own for site in one.sites)
    monkeypatch.setattr("explorer.components.player.weights.MOST_WEIGHTS", weights)
    assert not is_large(trace)
    monkeypatch.setattr("explorer.components.player.weights.MOST_WEIGHTS", weights - 1)
    assert is_large(trace)


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


def read(trace, unit, site, layer, head):
    """Weights and mask codes of a map, as a browser reads them, and whether it is packed."""
    assert unit in units_of(trace)
    header, arrays = unpack_payload(head_payload(trace, unit, site, layer, head))
    shown = merge(trace) if unit == "words" else trace
    axes = len(shown.queries(site)), len(shown.keys(site))
    mask_codes = arrays.get("closed", np.zeros(axes, np.uint8)).reshape(axes)
    codes = arrays["low"].astype(int) | arrays["high"].astype(int) << 8
    weights = np.zeros(axes)
    weights[mask_codes == UNMASKED if header["packed"] else slice(None)] = (
        codes if header["packed"] else codes.reshape(axes)
    )
    return weights / 65535 * header["scale"], mask_codes, header["packed"]


def test_the_weights_of_every_head_and_of_the_mean():
    trace = example_trace()
    for site in trace.sites:
        weights, masked = trace.attention(site), trace.closed(site)
        for layer in range(2):
            for head in (*range(4), MEAN):
                found, mask_codes, packed = read(trace, "pieces", site, layer, head)
                expected = weights[layer].mean(0) if head == MEAN else weights[layer, head]
                np.testing.assert_allclose(found, expected, atol=7.7e-6)
                np.testing.assert_array_equal(mask_codes, masked)
                assert packed == bool(masked.any())


def test_the_words_of_a_head():
    trace = pieces_trace()
    merged = merge(trace)
    for site in trace.sites:
        for head in (0, 1, MEAN):
            found, mask_codes, _ = read(trace, "words", site, 0, head)
            weights = merged.attention(site)[0]
            expected = weights.mean(0) if head == MEAN else weights[head]
            np.testing.assert_allclose(found, expected, atol=7.7e-6)
            np.testing.assert_array_equal(mask_codes, merged.closed(site))


def test_masks_of_layers_and_heads_that_differ():
    masks = np.ones((2, 2, 3, 3), bool)
    masks[1, 0, 0, 2] = masks[1, 0, 1, 0] = masks[1, 1, 1, 0] = False
    weights = masks / masks.sum(-1, keepdims=True)
    trace = Trace.from_arrays(list("abc"), encoder=weights, masks={"encoder": masks})
    for head in (0, 1):
        found, mask_codes, _ = read(trace, "pieces", "encoder", 1, head)
        np.testing.assert_array_equal(mask_codes == UNMASKED, masks[1, head])
        np.testing.assert_allclose(found, weights[1, head], atol=7.7e-6)
    found, mask_codes, packed = read(trace, "pieces", "encoder", 1, MEAN)
    assert np.argwhere(mask_codes != UNMASKED).tolist() == [[1, 0]]  # masked in every head
    np.testing.assert_allclose(found, weights[1].mean(0), atol=7.7e-6)
    assert packed


def test_a_weight_on_a_masked_cell_is_sent():
    weights = np.full((1, 1, 2, 2), 0.5)
    mask = [[True, False], [True, True]]
    trace = Trace.from_arrays(["a", "b"], encoder=weights, masks={"encoder": mask})
    found, _, packed = read(trace, "pieces", "encoder", 0, 0)
    assert not packed
    np.testing.assert_allclose(found, weights[0, 0], atol=7.7e-6)


def test_a_trace_without_pieces_has_no_words():
    assert units_of(example_trace()) == ("pieces",)
    assert units_of(pieces_trace()) == ("pieces", "words")
