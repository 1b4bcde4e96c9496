from explorer.core.mask_reasons import LATER, PADDING, UNMASKED, mask_codes


def test_padding_wins_over_later_positions():
    codes = mask_codes(3, 4, causal=True, padded_keys=2)
    assert codes.tolist() == [
        [UNMASKED, LATER, PADDING, PADDING],
        [UNMASKED, UNMASKED, PADDING, PADDING],
        [UNMASKED, UNMASKED, PADDING, PADDING],
    ]
