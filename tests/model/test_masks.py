from dataclasses import replace

import pytest
import torch

from explorer.core.errors import MaskError
from explorer.core.vocabulary import BOS, EOS, PAD
from explorer.model.hooks import path, recorded
from explorer.model.masks import causal_mask, padding_mask, path_mask, refuse_masked_rows
from tests.support.tiny_configs import PRIMES


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


@pytest.mark.parametrize("causal", [True, False])
def test_the_mask_of_a_path_is_the_one_that_a_pass_attends_with(make_model, causal):
    source = torch.tensor([[4, 5, 6, EOS], [4, EOS, PAD, PAD]])
    target = torch.tensor([[BOS, 5, PAD], [BOS, 4, 6]])
    model = make_model(replace(PRIMES, causal=causal))
    with torch.inference_mode(), recorded(model, "*.mask") as used:
        model(source, target)
    for site, layer in model.config.attentions:
        mask = path_mask(site, source != PAD, target != PAD, causal=causal)
        seen = used[path(site, layer, "mask")]
        assert torch.equal(mask[:, None], seen.expand(-1, -1, mask.size(1), -1))


def test_a_path_needs_only_the_sequences_that_it_attends_over():
    tokens = torch.tensor([True, True, False])
    mask = path_mask("decoder", None, tokens, causal=True)
    assert mask.tolist() == [[True, False, False], [True, True, False], [True, True, False]]
    assert path_mask("encoder", tokens, None, causal=True).tolist() == [[True, True, False]] * 3
