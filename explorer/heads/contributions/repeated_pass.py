"""A repeated pass over the tokens of a trace: they are known, so nothing is decoded."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from explorer.core.trace import Trace
from explorer.core.trace_size import LayerChoice
from explorer.model.captured_pass import attention_sizes, captured_pass
from explorer.model.explorable import ExplorableModel
from explorer.model.threads import threads_for


@torch.inference_mode()
def captured_again(model: ExplorableModel, trace: Trace, sites: Sequence[str]) -> Trace:
    """Repeat `trace` on `model` without interventions, and capture all layers of `sites` in full.

    The result has no other sites; its steps are those of `trace`. Cost: one pass.

    Raises `TraceSizeError` if that is more than a trace may hold, and `VocabularyError` as
    `ExplorableModel.fed`.
    """
    source, target = model.fed(trace)
    config = model.transformer.config
    sizes = attention_sizes(config, source.size(1), target.size(1), full=True)
    places = LayerChoice(sites=tuple(sites)).within(sizes)
    with threads_for(config.parameters, max(source.size(1), target.size(1))):
        _, captured = captured_pass(model.transformer, source, target, places, full=True)
    steps = {name: array for name, array in trace.arrays.items() if name.startswith("steps.")}
    return replace(trace, arrays={**steps, **captured}, digest="")
