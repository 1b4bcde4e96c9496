import torch

from explorer.model.huggingface.export_weights import library_weights
from explorer.model.transformer import sinusoids


def test_every_parameter_is_there_once_in_the_order_of_sines_and_cosines(make_model):
    model = make_model()
    weights = library_weights(model)
    known = sum(weight.numel() for weight in model.parameters())
    shared = weights["model.shared.weight"].numel()
    assert sum(weight.numel() for weight in weights.values()) - shared == known
    order = torch.cat([torch.arange(0, 42, 2), torch.arange(1, 42, 2)])
    own = model.encoder.layers[1].self_attention.query_key_value.weight
    layer = "model.encoder.layers.1.self_attn"
    assert torch.equal(weights[f"{layer}.k_proj.weight"], own[42:84, order])
    ours = model.decoder.layers[2].feed_forward
    layer = "model.decoder.layers.2"
    assert torch.equal(weights[f"{layer}.fc1.weight"], ours.expand.weight[:, order])
    assert torch.equal(weights[f"{layer}.fc2.bias"], ours.contract.bias[order])
    assert torch.equal(weights["final_logits_bias"][0], model.logits.bias)
    # In that order the sinusoids are those of the library: all sines, then all cosines.
    found = sinusoids(5, 42)[3, order]
    angles = 3 / 10_000 ** (torch.arange(0, 42, 2) / 42)
    torch.testing.assert_close(found, torch.cat([angles.sin(), angles.cos()]))
