import gzip

import numpy as np
import pytest

from explorer.components.player.heads import HeadAddress, head_payload
from explorer.core.mask_reasons import UNMASKED
from explorer.core.trace import Trace
from explorer.core.words import merge
from tests.support.example_traces import example_trace, pieces_trace
from tests.support.payloads import unpack_payload


def read(trace, unit, site, layer, head):
    """Weights and mask codes of a map, as a browser reads them, and whether it is packed."""
    address = HeadAddress(unit, site, layer, head)
    assert address.within(trace)
    header, arrays = unpack_payload(gzip.decompress(head_payload(trace, address)))
    shown = merge(trace) if unit == "words" else trace
    axes = len(shown.queries(site)), len(shown.keys(site))
    closed = arrays.get("closed", np.zeros(axes, np.uint8)).reshape(axes)
    codes = arrays["low"].astype(int) | arrays["high"].astype(int) << 8
    weights = np.zeros(axes)
    weights[closed == UNMASKED if header["packed"] else slice(None)] = (
        codes if header["packed"] else codes.reshape(axes)
    )
    return weights / 65535 * header["scale"], closed, header["packed"]


def test_the_weights_of_every_head_and_of_the_mean():
    trace = example_trace()
    for site in trace.sites:
        weights, masked = trace.attention(site), trace.closed(site)
        for layer in range(2):
            for head in (*range(4), None):
                found, closed, packed = read(trace, "pieces", site, layer, head)
                expected = weights[layer].mean(0) if head is None else weights[layer, head]
                np.testing.assert_allclose(found, expected, atol=7.7e-6)
                np.testing.assert_array_equal(closed, masked)
                assert packed == bool(masked.any())


def test_the_words_of_a_head():
    trace = pieces_trace()
    merged = merge(trace)
    for site in trace.sites:
        for head in (0, 1, None):
            found, closed, _ = read(trace, "words", site, 0, head)
            weights = merged.attention(site)[0]
            expected = weights.mean(0) if head is None else weights[head]
            np.testing.assert_allclose(found, expected, atol=7.7e-6)
            np.testing.assert_array_equal(closed, merged.closed(site))


def test_masks_of_layers_and_heads_that_differ():
    masks = np.ones((2, 2, 3, 3), bool)
    masks[1, 0, 0, 2] = masks[1, 0, 1, 0] = masks[1, 1, 1, 0] = False
    weights = masks / masks.sum(-1, keepdims=True)
    trace = Trace.from_arrays(list("abc"), encoder=weights, masks={"encoder": masks})
    for head in (0, 1):
        found, closed, _ = read(trace, "pieces", "encoder", 1, head)
        np.testing.assert_array_equal(closed == UNMASKED, masks[1, head])
        np.testing.assert_allclose(found, weights[1, head], atol=7.7e-6)
    found, closed, packed = read(trace, "pieces", "encoder", 1, None)
    assert np.argwhere(closed != UNMASKED).tolist() == [[1, 0]]  # masked in every head
    np.testing.assert_allclose(found, weights[1].mean(0), atol=7.7e-6)
    assert packed


def test_a_weight_on_a_masked_cell_is_sent():
    weights = np.full((1, 1, 2, 2), 0.5)
    mask = [[True, False], [True, True]]
    trace = Trace.from_arrays(["a", "b"], encoder=weights, masks={"encoder": mask})
    found, _, packed = read(trace, "pieces", "encoder", 0, 0)
    assert not packed
    np.testing.assert_allclose(found, weights[0, 0], atol=7.7e-6)


@pytest.mark.parametrize(
    ("unit", "site", "layer", "head"),
    [
        ("pieces", "cross", 2, 0),
        ("pieces", "cross", 0, 4),
        ("pieces", "self", 0, 0),
        ("pieces", "cross", -1, 0),
        ("words", "cross", 0, 0),  # all words are single pieces
    ],
)
def test_a_map_that_a_trace_does_not_have(unit, site, layer, head):
    assert not HeadAddress(unit, site, layer, head).within(example_trace())


def test_an_address_as_text():
    assert str(HeadAddress("words", "decoder", 3, None)) == "words/decoder/3/mean"
    assert str(HeadAddress("pieces", "cross", 0, 11)) == "pieces/cross/0/11"
