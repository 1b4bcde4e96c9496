import copy

import torch

from explorer.model.huggingface.opening.weight_layout import store_by_input


def test_weights_keep_their_values_and_wide_ones_are_stored_by_input():
    narrow, wide = torch.nn.Linear(8, 15), torch.nn.Linear(8, 16)
    tied = torch.nn.Embedding(16, 8)
    tied.weight = wide.weight
    model = torch.nn.ModuleList([narrow, wide, tied])
    before = copy.deepcopy(model)
    store_by_input(model)
    for own, other in zip(model.parameters(), before.parameters(), strict=True):
        assert torch.equal(own, other)
    assert narrow.weight.stride() == (8, 1)
    assert wide.weight.stride() == (1, 16)
    assert tied.weight is wide.weight
    row = torch.randn(1, 8)
    torch.testing.assert_close(wide(row), before[1](row))


def test_an_opened_model_is_stored_so(opened):
    model = opened("llama")
    head = model.model.get_output_embeddings().weight
    assert head.stride() == (1, head.shape[0])
