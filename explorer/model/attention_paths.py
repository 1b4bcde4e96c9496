"""Paths of the attention modules and heads of a Transformer, in one fixed order.

Also the paths of the residual connection around each attention and of the rest of its layer.
"""

from explorer.core.sites import Head, sides
from explorer.model.config import ModelConfig

MODULES = {
    "encoder": "encoder.layers.{}.self_attention",
    "decoder": "decoder.layers.{}.self_attention",
    "cross": "decoder.layers.{}.cross_attention",
}


STACKS = sides("encoder", "decoder")
"""Site → the stack whose tokens are its queries, and the one whose tokens are its keys."""


def path(site: str, layer: int, hook: str) -> str:
    """The path of a hook point, such as path("cross", 1, "pattern")."""
    return f"{MODULES[site].format(layer)}.{hook}"


def residual_path(site: str, layer: int, hook: str) -> str:
    """The path of a hook point of the residual connection around an attention."""
    (stack, _), attention = STACKS[site], MODULES[site].rpartition(".")[2]
    return f"{stack}.layers.{layer}.around_{attention}.{hook}"


def layers(config: ModelConfig, site: str) -> int:
    """Number of layers that have attention at `site`."""
    return config.encoder_layers if site == "encoder" else config.decoder_layers


def attentions(config: ModelConfig) -> list[tuple[str, int]]:
    """(site, layer) of every attention module, in the order of all tables of heads."""
    return [(site, layer) for site in MODULES for layer in range(layers(config, site))]


def all_heads(config: ModelConfig) -> list[Head]:
    """Every head, in the order of all tables of heads."""
    return [
        Head(site, layer, head)
        for site, layer in attentions(config)
        for head in range(config.heads)
    ]
