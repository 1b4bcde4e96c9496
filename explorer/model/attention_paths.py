"""The attention modules and heads of a Transformer: their paths, in one fixed order."""

from explorer.core.sites import Head
from explorer.model.config import ModelConfig

MODULES = {
    "encoder": "encoder.layers.{}.self_attention",
    "decoder": "decoder.layers.{}.self_attention",
    "cross": "decoder.layers.{}.cross_attention",
}


def path(site: str, layer: int, hook: str) -> str:
    """The path of a hook point, such as path("cross", 1, "pattern")."""
    return f"{MODULES[site].format(layer)}.{hook}"


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
