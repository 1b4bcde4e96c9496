import pytest
import torch

from explorer.core.errors import InterventionError
from explorer.core.interventions import Interventions
from explorer.core.sites import Head
from explorer.model.head_gates import MeanOutputs, head_gates

HEADS = [Head("encoder", 0, 0), Head("encoder", 0, 1), *(Head("cross", 0, h) for h in range(3))]
MEANS = MeanOutputs(
    "some", {("encoder", 0): torch.ones(2, 4), ("cross", 0): torch.full((3, 4), 2.0)}
)


def test_removed_heads_have_gate_0():
    gates, fills = head_gates(Interventions.gather(ablate=[("encoder", 0, 1)]), HEADS)
    assert gates.tolist() == [[1, 0, 1, 1, 1]]
    assert fills is None
    gates, _ = head_gates(Interventions.gather(keep=[("cross", 0, 2)]), HEADS)
    assert gates.tolist() == [[1, 1, 0, 0, 1]]


def test_a_mean_takes_the_place_of_the_heads_that_ask_for_it():
    done = Interventions.gather(ablate=[("cross", 0, 0, "mean"), ("cross", 0, 1)])
    gates, fills = head_gates(done, HEADS, MEANS)
    assert gates.tolist() == [[1, 1, 0, 0, 1]]
    assert fills["cross", 0][:, 0].tolist() == [2, 0, 0]
    assert not fills["encoder", 0].any()
    assert repr(MEANS) == "MeanOutputs('some', 2 layers)"


def test_what_cannot_be_done_is_refused():
    for done, key in [
        (Interventions.gather(ablate=[("cross", 0, 0, "mean")]), "no_means"),
        (Interventions.gather(ablate=HEADS), "nothing_left"),
        (Interventions.gather(ablate=[("decoder", 0, 0)]), "no_such_site"),
        (Interventions.gather(keep=[("cross", 1, None)]), "no_such_head"),
        (Interventions.gather(edit_mask=[("cross", None, -1, 0, 0)]), "no_such_head"),
        (Interventions.gather(override_row=[("encoder", 0, 2, 0, [1])]), "no_such_head"),
    ]:
        with pytest.raises(InterventionError) as caught:
            head_gates(done, HEADS)
        assert caught.value.key == key
