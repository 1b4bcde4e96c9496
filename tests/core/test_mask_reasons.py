import numpy as np

from explorer.core.mask_reasons import (
    EDITED,
    LATER,
    OUTSIDE,
    PADDING,
    UNMASKED,
    has_window,
    mask_codes,
    path_codes,
    reason_codes,
)


def test_padding_wins_over_later_positions():
    codes = mask_codes(3, 4, causal=True, padded_keys=2)
    assert codes.tolist() == [
        [UNMASKED, LATER, PADDING, PADDING],
        [UNMASKED, UNMASKED, PADDING, PADDING],
        [UNMASKED, UNMASKED, PADDING, PADDING],
    ]


def test_other_masked_cells_are_edited_unless_told_otherwise():
    mask = np.array([[True, True, False], [False, True, True], [True, True, True]])
    nothing = np.zeros(3, bool)
    assert reason_codes(mask, nothing)[0, 2] == LATER
    assert reason_codes(mask, nothing, causal=False)[0, 2] == EDITED
    assert reason_codes(mask, nothing, other=OUTSIDE)[1, 0] == OUTSIDE


def test_only_the_decoder_has_later_positions_and_only_the_source_has_padding():
    square = np.array([[True, False], [False, True]])
    codes = path_codes(dict.fromkeys(("encoder", "decoder", "cross"), square), np.array([0, 1]) > 0)
    assert codes["encoder.closed"].tolist() == [[UNMASKED, PADDING], [EDITED, UNMASKED]]
    assert codes["decoder.closed"].tolist() == [[UNMASKED, LATER], [EDITED, UNMASKED]]
    assert codes["cross.closed"].tolist() == codes["encoder.closed"].tolist()


def test_a_window_masks_from_one_distance_on_in_two_rows_or_more():
    distance = np.arange(6)[:, None] - np.arange(6)
    nothing, last = np.zeros(6, bool), np.arange(6) == 5
    causal = (distance >= 0) & (distance < 3)
    assert has_window(causal, nothing, causal=True)
    assert has_window(causal & ~last, last, causal=True)
    assert has_window(np.abs(distance) < 2, nothing, causal=False)
    assert not has_window(distance >= 0, nothing, causal=True)
    holed = causal.copy()
    holed[4, 4] = False
    assert not has_window(holed, nothing, causal=True)
    one_row = np.tril(np.ones((6, 6), bool))
    one_row[5, 0] = False
    assert not has_window(one_row, nothing, causal=True)
