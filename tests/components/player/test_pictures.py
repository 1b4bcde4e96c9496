import numpy as np
import pytest

from explorer.components.player.pictures import (
    LARGEST_EDGE,
    MOST_BYTES,
    Maps,
    picture_codes,
    picture_size,
    pictures_payload,
    shrunk,
    shrunk_codes,
    site_headers,
    site_pictures,
)
from explorer.core.mask_reasons import LATER, PADDING, UNMASKED
from explorer.core.trace import Trace
from explorer.core.words import merge, word_axes
from explorer.core.zoom import Zoom
from tests.support.example_traces import pieces_trace, random_trace
from tests.support.payloads import unpack_payload

MANY = 20_000  # maps, so that even small ones are shrunk


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
        expected = picture_codes(shrunk(Maps(weights, mask_codes, None), *size)[0], 1.0)
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


def blocks(queries, keys, rows, columns):
    """By pixel, its cells: cell c of n goes to pixel ⌊c · pixels / n⌋."""
    for row in range(rows):
        for column in range(columns):
            inside_rows = [q for q in range(queries) if q * rows // queries == row]
            inside_columns = [k for k in range(keys) if k * columns // keys == column]
            yield row, column, np.ix_(inside_rows, inside_columns)


@pytest.mark.parametrize(
    ("queries", "keys", "rows", "columns"),
    [(7, 11, 3, 4), (12, 12, 5, 5), (5, 9, 5, 2), (4, 4, 4, 4)],
)
def test_a_pixel_is_the_largest_unmasked_weight_of_its_cells(queries, keys, rows, columns):
    random = np.random.default_rng(3)
    weights = random.random((2, 3, queries, keys)).astype(np.float32)
    mask_codes = random.choice([UNMASKED, LATER, PADDING], (queries, keys), p=[0.5, 0.3, 0.2])
    mask_codes = mask_codes.astype(np.uint8)
    found = shrunk(Maps(weights, mask_codes, None), rows, columns)[0]
    codes = shrunk_codes(mask_codes, rows, columns)
    assert found.shape == (2, 3, rows, columns)
    for row, column, cells in blocks(queries, keys, rows, columns):
        unmasked = mask_codes[cells] == UNMASKED
        for head in np.ndindex(2, 3):
            expected = np.where(unmasked, weights[head][cells], 0).max()
            assert found[head][row, column] == expected
        assert codes[row, column] == (UNMASKED if unmasked.any() else mask_codes[cells].max())


def test_a_weight_on_a_masked_cell_is_not_in_a_picture():
    random = np.random.default_rng(4)
    masks = random.random((2, 3, 9, 11)) < 0.5
    masks[..., 0] = True
    masks[1, :, :, 8:] = False  # masked for all queries
    weights = random.random(masks.shape).astype(np.float32)
    codes = np.where(masks, UNMASKED, LATER).astype(np.uint8)
    found = shrunk(Maps(weights, codes, None), 4, 5)[0]
    for row, column, cells in blocks(9, 11, 4, 5):
        seen = (weights * masks)[..., *cells]
        np.testing.assert_array_equal(found[..., row, column], seen.max((-2, -1)))


@pytest.mark.parametrize("unit", ["pieces", "words"])
@pytest.mark.parametrize("edge", [2, 256])
def test_a_part_of_all_maps_has_pictures_of_its_own(unit, edge, monkeypatch):
    monkeypatch.setattr("explorer.components.player.pictures.LARGEST_EDGE", edge)
    trace = pieces_trace()
    shown = merge(trace) if unit == "words" else trace
    zoom = Zoom(1, 2, 0, 2)
    for site in trace.sites:
        header, arrays = unpack_payload(pictures_payload(trace, unit, site, zoom))
        weights, masks = shown.attention(site)[..., 1:3, 0:3], shown.closed(site)[1:3, 0:3]
        size = picture_size(2, 3, 2)
        assert header["picture"] == list(size)
        expected = picture_codes(shrunk(Maps(weights, masks, None), *size)[0], 1.0)
        np.testing.assert_array_equal(arrays["pictures"], expected.ravel())
        np.testing.assert_array_equal(arrays["closed"], shrunk_codes(masks, *size).ravel())


def test_a_part_has_the_masks_of_each_layer_and_head_and_the_scale_of_its_site():
    masks = np.ones((2, 3, 6, 6), bool)
    masks[1, 2, 3, 4] = False
    weights = masks / masks.sum(-1, keepdims=True)
    weights[0, 0, 0, 0] = 4
    trace = Trace.from_arrays(list("abcdef"), encoder=weights, masks={"encoder": masks})
    _, arrays = unpack_payload(pictures_payload(trace, "pieces", "encoder", Zoom(2, 4, 3, 5)))
    closed = arrays["closed"].reshape(2, 3, 3, 3)
    np.testing.assert_array_equal(closed, trace.arrays["encoder.closed"][..., 2:5, 3:6])
    expected = picture_codes(trace.attention("encoder")[..., 2:5, 3:6], 4.0)
    np.testing.assert_array_equal(arrays["pictures"].reshape(2, 3, 3, 3), expected)


def test_words_whose_pictures_are_asked_for_have_the_same_header():
    trace = pieces_trace()
    axes = word_axes(trace)
    _, headers = site_pictures(trace, 24, axes)
    for header in headers.values():
        del header["picture"]
    assert site_headers(trace, axes) == headers


def test_codes_of_pictures_are_those_of_the_square_root():
    weights = np.linspace(0, 1, 1001, dtype=np.float32)
    shown = (picture_codes(weights, 1.0) / 255) ** 2
    assert np.abs(np.sqrt(shown) - np.sqrt(weights)).max() <= 1 / 510 + 1e-6
    assert picture_codes(np.array([2.0], np.float32), 2.0) == 255


@pytest.mark.parametrize("maps", [1, 24, 144, 864, 10_000])
@pytest.mark.parametrize("shape", [(512, 512), (128, 2048), (3, 5)])
def test_all_pictures_together_are_bounded_and_keep_their_shape(maps, shape):
    rows, columns = picture_size(*shape, maps)
    assert maps * rows * columns <= MOST_BYTES
    assert max(rows, columns) <= LARGEST_EDGE
    assert (rows, columns) == shape or rows / columns == pytest.approx(
        shape[0] / shape[1], rel=1 / min(rows, columns)
    )
    assert picture_size(3, 5, 24) == (3, 5)
