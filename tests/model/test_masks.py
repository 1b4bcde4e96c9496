import pytest
import torch

from explorer.core.errors import MaskError
from explorer.core.vocabulary import PAD
from explorer.model.masks import causal_mask, padding_mask, refuse_masked_rows


def test_a_fully_masked_row_is_refused_when_the_mask_is_built():
    with pytest.raises(MaskError):
        padding_mask(torch.tensor([[3, 2], [PAD, PAD]]))
    mask = causal_mask(3)
    mask[1] = False
    with pytest.raises(MaskError) as caught:
        refuse_masked_rows(mask)
    assert caught.value.facts == {"query": 1}


def test_masks_are_true_where_a_query_may_attend():
    assert padding_mask(torch.tensor([[1, 8, PAD]])).tolist() == [[[[True, True, False]]]]
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True] * 3]
