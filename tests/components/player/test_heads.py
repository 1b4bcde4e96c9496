import numpy as np

from explorer.components.player.heads import MEAN, head_payload, units_of
from explorer.core.mask_reasons import UNMASKED
from explorer.core.trace import Trace
from explorer.core.words import merge
from tests.support.example_traces import example_trace, pieces_trace
from tests.support.payloads import unpack_payload


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
