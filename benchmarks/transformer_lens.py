"""Patching and attribution against TransformerLens, on one GPT-2 with random weights.

    python -m benchmarks.transformer_lens [--layers 3] [--width 48] [--heads 4] [--seed 0]

The largest difference of a figure; target at most 1e-4. Both read the same weights, ours as a model
of the library, TransformerLens as its own copy. It needs TransformerLens 2
(`pip install "transformer-lens<3"`), in an environment of its own, since it pins other versions.

heads        the metric with the output of each head patched, all positions
residual     the metric with the residual stream patched after each layer but the last, at each
             position
attribution  the part of each head in the logit of the chosen token minus that of the runner-up
"""

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import GPT2Config, GPT2LMHeadModel

import explorer

VOCABULARY = 60
CLEAN = (5, 7, 9, 11, 5, 7, 9, 30)
CORRUPTED = (5, 8, 9, 12, 5, 8, 9, 30)
TOKENS = (3, 4)
"""The metric: the logit of the first less that of the second."""

Numbers = NDArray[np.float64]


def random_gpt2(layers: int, width: int, heads: int, seed: int) -> Any:
    """A GPT-2 in which no bias and no scale of a LayerNorm is what it begins with."""
    torch.manual_seed(seed)
    config = GPT2Config(
        vocab_size=VOCABULARY, n_positions=64, n_embd=width, n_layer=layers, n_head=heads,
        bos_token_id=0, eos_token_id=1,
    )  # fmt: skip
    model = GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
    return model


def ours(model: Any) -> dict[str, Numbers]:
    """The figures by this program."""
    wrapped = explorer.wrap(model, name="gpt2")
    one, other = (" ".join(map(str, ids)) for ids in (CLEAN, CORRUPTED))

    def metric(logits: torch.Tensor) -> torch.Tensor:
        return logits[TOKENS[0]] - logits[TOKENS[1]]

    layers, positions = model.config.n_layer, len(CLEAN)
    heads = wrapped.patch(one, other, metric=metric).table.metric.to_numpy()
    stream = wrapped.patch(one, other, metric=metric, sites="residual").table.metric.to_numpy()
    parts = wrapped.logit_attribution(one, max_new_tokens=1).parts
    last = parts[parts.step == parts.step.max()].sort_values(["layer", "head"])
    return {
        "heads": heads.reshape(layers, -1),
        "residual": stream.reshape(layers, positions)[:-1],
        "attribution": last.value.to_numpy().reshape(layers, -1),
    }


@torch.no_grad()
def theirs(model: Any) -> dict[str, Numbers]:
    """The figures by TransformerLens."""
    from transformer_lens import HookedTransformer, HookedTransformerConfig, patching
    from transformer_lens.pretrained.weight_conversions import convert_gpt2_weights

    sizes = model.config
    config = HookedTransformerConfig(
        n_layers=sizes.n_layer, d_model=sizes.n_embd, n_ctx=sizes.n_positions,
        d_head=sizes.n_embd // sizes.n_head, n_heads=sizes.n_head, d_mlp=4 * sizes.n_embd,
        d_vocab=sizes.vocab_size, act_fn="gelu_new", normalization_type="LN",
        eps=sizes.layer_norm_epsilon, original_architecture="GPT2LMHeadModel",
    )  # fmt: skip
    hooked = HookedTransformer(config)
    hooked.load_and_process_state_dict(
        convert_gpt2_weights(model, config), fold_ln=False, center_writing_weights=False,
        center_unembed=False, fold_value_biases=False,
    )  # fmt: skip
    one, other = (torch.tensor([ids]) for ids in (CLEAN, CORRUPTED))

    def metric(logits: torch.Tensor) -> torch.Tensor:
        return logits[0, -1, TOKENS[0]] - logits[0, -1, TOKENS[1]]

    logits, cache = hooked.run_with_cache(one)
    chosen, runner_up = logits[0, -1].topk(2).indices
    direction = hooked.W_U[:, chosen] - hooked.W_U[:, runner_up]
    outputs = cache.stack_head_results(pos_slice=-1)  # (L · H, 1, D)
    scaled = cache.apply_ln_to_stack(outputs, layer=-1, pos_slice=-1) * hooked.ln_final.w
    return {
        "heads": patching.get_act_patch_attn_head_out_all_pos(hooked, other, cache, metric).numpy(),
        "residual": patching.get_act_patch_resid_pre(hooked, other, cache, metric).numpy()[1:],
        "attribution": (scaled @ direction)[:, 0].numpy().reshape(sizes.n_layer, -1),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--width", type=int, default=48)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    model = random_gpt2(options.layers, options.width, options.heads, options.seed)
    own = ours(model)
    for name, values in own.items():
        print(f"{name:11}  {values.size} figures of ours, at most {np.abs(values).max():.3f}")
    try:
        known = theirs(model)
    except ImportError:
        print('TransformerLens 2 is not installed: pip install "transformer-lens<3"')
        return
    for name, values in known.items():
        difference = np.abs(own[name] - values).max()
        print(f"{name:11}  largest difference {difference:.1e}")


if __name__ == "__main__":
    main()
