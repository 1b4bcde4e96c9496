"""The weights of a Transformer trained here under the names of the library.

Both add sines and cosines to the embeddings. Here they alternate along the width; in the library
all sines come before all cosines. So the width of the exported model is permuted: the features
between layers have another order, and so does every matrix that reads or writes them.
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from explorer.model.transformer import Transformer

_MODULES = {  # here → there, in a layer
    "self_attention": "self_attn",
    "cross_attention": "encoder_attn",
    "feed_forward.expand": "fc1",
    "feed_forward.contract": "fc2",
    "around_self_attention": "self_attn_layer_norm",
    "around_cross_attention": "encoder_attn_layer_norm",
    "around_feed_forward": "final_layer_norm",
}


def library_weights(model: Transformer) -> dict[str, Tensor]:
    """Name → weight for the library's Marian (post-norm) or Pegasus (pre-norm) model."""
    assert model.encoder is not None
    order = _order(model.config.d_model)
    weights = dict(_embeddings(model, order))
    for name, module in model.named_modules():
        if ".layers." not in name or not isinstance(module, nn.Linear | nn.LayerNorm):
            continue
        stack, _, number, inside = name.split(".", 3)
        for own, tensor in _parts(inside, module, order):
            weights[f"model.{stack}.layers.{number}.{own}"] = tensor
    if model.config.norm == "pre":
        for stack, norm in (("encoder", model.encoder.norm), ("decoder", model.decoder.norm)):
            assert isinstance(norm, nn.LayerNorm)
            weights[f"model.{stack}.layer_norm.weight"] = norm.weight[order]
            weights[f"model.{stack}.layer_norm.bias"] = norm.bias[order]
    return {name: tensor.detach().clone().contiguous() for name, tensor in weights.items()}


def _order(width: int) -> Tensor:
    """Order of the features: first those with a sine, then those with a cosine."""
    return torch.cat([torch.arange(0, width, 2), torch.arange(1, width, 2)])


def _embeddings(model: Transformer, order: Tensor) -> Iterator[tuple[str, Tensor]]:
    assert model.encoder is not None
    source, target = (stack.embedding.tokens.weight for stack in (model.encoder, model.decoder))
    # Where the three are tied, the library ties them again.
    yield (
        "model.shared.weight",
        target[:, order] if model.config.tied_embeddings else source[:, order],
    )
    yield "model.encoder.embed_tokens.weight", source[:, order]
    yield "model.decoder.embed_tokens.weight", target[:, order]
    yield "lm_head.weight", model.logits.weight[:, order]
    yield "final_logits_bias", model.logits.bias[None]


def _parts(
    inside: str, module: nn.Linear | nn.LayerNorm, order: Tensor
) -> Iterator[tuple[str, Tensor]]:
    """The weights of one module of a layer; our joint matrix of queries, keys and values is split.

    inside: its path in the layer.
    """
    weight, bias = module.weight, module.bias
    if isinstance(module, nn.LayerNorm):
        yield f"{_MODULES[inside]}.weight", weight[order]
        yield f"{_MODULES[inside]}.bias", bias[order]
        return
    if inside in _MODULES:
        target = _MODULES[inside]
        reads = target == "fc1"
        yield f"{target}.weight", weight[:, order] if reads else weight[order]
        yield f"{target}.bias", bias if reads else bias[order]
        return
    attention, part = inside.split(".")
    target = _MODULES[attention]
    if part == "output":
        yield f"{target}.out_proj.weight", weight[order]
        yield f"{target}.out_proj.bias", bias[order]
        return
    letters = {"query_key_value": "qkv", "query": "q", "key_value": "kv"}[part]
    pairs = zip(weight.chunk(len(letters)), bias.chunk(len(letters)), strict=True)
    for letter, (of_weight, of_bias) in zip(letters, pairs, strict=True):
        yield f"{target}.{letter}_proj.weight", of_weight[:, order]
        yield f"{target}.{letter}_proj.bias", of_bias
