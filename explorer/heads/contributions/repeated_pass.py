"""A repeated pass over the tokens of a trace: they are known, so nothing is decoded."""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from explorer.core.trace import Trace
from explorer.core.trace_size import LayerChoice
from explorer.core.vocabulary import BOS, PAD
from explorer.model.captured_pass import attention_sizes, captured_pass
from explorer.model.explorable import ExplorableModel
from explorer.model.threads import threads_for


def fed_ids(model: ExplorableModel, trace: Trace) -> tuple[Tensor, Tensor]:
    """Input ids of encoder and decoder in a trace of `model`: (1, S) with the padding, and (1, T).
    S = 0 for a decoder alone.

    Raises `VocabularyError` on a trace of a text that `model` cannot read.
    """
    source = model.source_ids(str(trace.facts["text"]))
    source += [PAD] * (len(trace.source_tokens) - len(source))
    fed = torch.cat([torch.tensor([[BOS]]), chosen_ids(trace)[:, :-1]], 1)
    return torch.tensor([source], dtype=torch.long), fed


def chosen_ids(trace: Trace) -> Tensor:
    """(1, T) ids of the tokens that follow each row of a trace, chosen by the model or given."""
    chosen = trace.arrays["steps.id"][trace.arrays["steps.chosen"].astype(bool)]  # by step
    return torch.tensor([chosen.tolist()])


@torch.inference_mode()
def captured_again(model: ExplorableModel, trace: Trace, sites: Sequence[str]) -> Trace:
    """Repeat `trace` on `model` without interventions, and capture all layers of `sites` in full.

    The result has no other sites; its steps are those of `trace`. Cost: one pass.

    Raises `TraceSizeError` if that is more than a trace may hold, and `VocabularyError` as
    `fed_ids`.
    """
    source, target = fed_ids(model, trace)
    config = model.transformer.config
    sizes = attention_sizes(config, source.size(1), target.size(1), full=True)
    places = LayerChoice(sites=tuple(sites)).within(sizes)
    with threads_for(config.parameters, max(source.size(1), target.size(1))):
        _, captured = captured_pass(model.transformer, source, target, places, full=True)
    steps = {name: array for name, array in trace.arrays.items() if name.startswith("steps.")}
    return replace(trace, arrays={**steps, **captured}, digest="")
