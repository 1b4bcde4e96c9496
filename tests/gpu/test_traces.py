"""Traces and measurements of a model on a GPU, compared with the same on a CPU."""

from pathlib import Path

import numpy as np
import pytest

from explorer.core.interventions import Interventions
from explorer.core.trace import Trace
from explorer.heads.measure import measure
from explorer.heads.metrics.evaluation_batches import task_sentences
from explorer.model.explorable import ExplorableModel, load

CHECKPOINTS = Path(__file__).parents[2] / "checkpoints"
TEXTS = {
    "reverse": "7 3 9 1 4",
    "english-french": "The black cat sleeps on the red chair.",
}


def both(name: str) -> tuple[ExplorableModel, ExplorableModel]:
    """The model on the GPU and on the CPU."""
    there, here = (load(CHECKPOINTS / f"{name}.safetensors") for _ in range(2))
    there.transformer.to("cuda")
    return there, here


def assert_equal(there: Trace, here: Trace) -> None:
    """One output, and all arrays equal to rounding; the GPU multiplies in float32."""
    assert there.text == here.text
    assert there.predicted_tokens == here.predicted_tokens
    assert there.arrays.keys() == here.arrays.keys()
    for name, ours in there.arrays.items():
        if name in ("steps.id", "early.id", "steps.rank"):  # of nearly equal candidates
            continue
        np.testing.assert_allclose(
            ours.astype(float), here.arrays[name].astype(float), atol=2e-4, rtol=2e-4, err_msg=name
        )
    assert there.integrity().ok.all()


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("capture", ["pattern", "full"])
def test_a_trace_equals_that_of_the_cpu(name, capture):
    there, here = both(name)
    pad = len(here.source_ids(TEXTS[name])) + 2
    one, other = (model.trace(TEXTS[name], capture=capture, pad_to=pad) for model in (there, here))
    assert_equal(one, other)


def test_traces_of_several_texts_equal_those_of_the_cpu():
    there, here = both("reverse")
    texts = ["7 3 9", "4 1", "a b c d e f"]
    for one, other in zip(there.traces(texts), here.traces(texts), strict=True):
        assert_equal(one, other)


@pytest.mark.parametrize(
    "intervention",
    ["ablate cross.1.*", "keep cross.1.0", "close cross.*.* 2 3", "row cross.1.0 1 .2,.8"],
)
def test_an_intervention_changes_the_same(intervention):
    there, here = both("reverse")
    chosen = Interventions.parse([intervention])
    one, other = (model.trace("7 3 9 1 4", **chosen.options()) for model in (there, here))
    assert_equal(one, other)


def test_measured_heads_equal_those_of_the_cpu():
    there, here = both("reverse")
    reports = [
        measure(model, task_sentences(model, 64), gradients=True, removed_on=16)
        for model in (there, here)
    ]
    one, other = (report.heads.select_dtypes("number").to_numpy() for report in reports)
    assert list(reports[0].heads) == list(reports[1].heads)
    np.testing.assert_allclose(one, other, atol=2e-3, rtol=2e-3)
