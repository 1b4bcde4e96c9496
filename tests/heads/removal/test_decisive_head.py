from pathlib import Path

import numpy as np
import pytest

import explorer
from explorer.core.interventions import Interventions
from explorer.heads.removal.decisive_head import decisive_head
from explorer.model.explorable import ExplorableModel

REVERSE = Path(__file__).parents[3] / "checkpoints" / "reverse.safetensors"
FIRST_TEXT = "7 3 9 1 4"


def log_probability(model: ExplorableModel, text: str, output: dict[int, int], **done) -> float:
    """Of an output, as the sum over its tokens, in a trace of its own."""
    trace = model.trace(text, force=output, **done)
    steps = trace.steps()
    return float(np.log(steps.probability[steps.chosen.astype(bool)]).sum())


@pytest.mark.parametrize(
    "lines", [[], ["omit scaling"], ["ablate cross.0.1", "close decoder.0.2 1 0"]]
)
def test_without_it_the_output_is_least_probable(explorable, lines):
    done = Interventions.parse(lines)
    trace = explorable.trace("1 2 3", **done.options())
    chosen = trace.arrays["steps.id"][trace.arrays["steps.chosen"].astype(bool)].tolist()
    output = dict(enumerate(chosen, start=1))
    found = {
        head: log_probability(
            explorable, "1 2 3", output, **{**done.options(), "ablate": [*done.ablate, head]}
        )
        for head in explorable.transformer.config.all_heads
    }
    assert decisive_head(explorable, trace, done) == min(found, key=found.__getitem__)


def test_without_it_the_first_model_writes_another_output():
    model = explorer.load(REVERSE)
    trace = model.trace(FIRST_TEXT)
    head = decisive_head(model, trace, Interventions())
    assert model.trace(FIRST_TEXT, ablate=[head]).text != trace.text
