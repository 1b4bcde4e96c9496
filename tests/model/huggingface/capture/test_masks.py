from types import SimpleNamespace

import numpy as np
import torch

from explorer.model.huggingface.capture.masks import LayerMask, least, may_attend, site_codes


def layer(mask, given=None, module="attention"):
    size = 4 if mask is None else mask.size(-1)
    given = mask if given is None else given
    query, key = torch.zeros(1, 2, 4, 3), torch.zeros(1, 2, size, 3)
    return LayerMask.of(
        SimpleNamespace(query=query, key=key, mask=mask, given=given, module=module)
    )


def causal():
    masked = torch.finfo(torch.float32).min
    return torch.full((1, 1, 4, 4), masked).triu(1)


def test_a_bias_leaves_a_cell_unmasked_and_the_least_number_masks_it():
    for kind in (torch.float32, torch.bfloat16, torch.float16):
        mask = torch.tensor([0.0, -30.0, 12.0], dtype=kind)
        assert may_attend(mask).all()
        assert not may_attend(torch.tensor([least(mask)], dtype=kind)).any()


def test_one_mask_of_all_layers_has_two_axes_and_layers_that_differ_have_four():
    nothing = np.zeros(4, bool)
    codes = site_codes([layer(causal())] * 3, nothing, causal=True)
    assert codes.tolist() == np.triu(np.ones((4, 4)), 1).tolist()
    local = causal()
    local[0, 0, 3, 0] = least(local)
    codes = site_codes([layer(causal()), layer(local)], nothing, causal=True)
    assert codes.shape == (2, 1, 4, 4)
    assert (codes[1, 0, 3, 0], codes[0, 0, 3, 0]) == (4, 0)
    assert not site_codes([layer(None)], nothing, causal=False).any()


def test_a_cell_that_only_an_intervention_masks_was_edited():
    edited = causal().expand(1, 2, 4, 4).clone()
    edited[0, 1, 2, 0] = least(edited)
    codes = site_codes([layer(edited, causal())], np.zeros(4, bool), causal=True)
    assert codes.shape == (1, 2, 4, 4)
    assert (codes[0, 1, 2, 0], codes[0, 0, 2, 0]) == (3, 0)


def test_padding_is_known_by_its_keys():
    mask = causal()
    mask[..., 0] = least(mask)
    padding = np.arange(4) == 0
    codes = site_codes([layer(mask)], padding, causal=True)
    assert (codes[:, 0] == 2).all()


def test_a_query_that_is_padding_has_no_keys_where_the_weights_alone_are_known():
    mask = torch.ones(1, 1, 4, 4, dtype=torch.bool)
    mask[..., 3], mask[..., 3, :] = False, False
    padding = np.arange(4) == 3
    codes = site_codes([layer(mask, module=None)], padding, causal=False)
    assert codes.tolist() == [[0, 0, 0, 2]] * 3 + [[2] * 4]
