import pytest
import torch

from explorer.core.errors import InterventionError, MaskError
from explorer.core.interventions import Interventions
from explorer.model.actions import MeanOutputs, gate_actions, intervention_actions
from explorer.model.huggingface.anatomy import Anatomy, Kind, Place
from explorer.model.huggingface.capture.edits import edits_of
from explorer.model.points import chained, from_query

ANATOMY = Anatomy(Kind.DECODER_ONLY, (), tuple(Place("decoder", n, n, 2, 8) for n in range(2)))


def edits_for(interventions, anatomy, means=None, gates=None, fills=None):
    heads = anatomy.all_heads
    changed = intervention_actions(interventions, heads, means)
    return edits_of(anatomy, chained(changed, gate_actions(heads, gates, fills)))


def edits(**given):
    return edits_for(Interventions.gather(**given), ANATOMY)


def test_only_the_calls_that_change_have_an_edit():
    found = edits(ablate=[("decoder", 1, 0)])
    assert list(found.decoder) == [1]
    output = torch.ones(1, 3, 2, 4)
    changed = found.decoder[1].output(output)
    assert not changed[:, :, 0].any()
    assert torch.equal(changed[:, :, 1], output[:, :, 1])
    assert output.all()


def test_keeping_a_head_removes_the_others_of_its_site():
    found = edits(keep=[("decoder", 0, 1)])
    assert not found.decoder[0].output(torch.ones(1, 1, 2, 4))[:, :, 0].any()
    assert not found.decoder[1].output(torch.ones(1, 1, 2, 4)).any()


def test_cells_and_rows_follow_the_position_of_the_pass():
    """Step by step a pass has one row; a cache of local attention has lost the first keys."""
    found = edits(
        edit_mask=[("decoder", 0, 1, 3, 2)], override_row=[("decoder", 0, 0, 3, (0, 0, 1, 3))]
    )
    query, key = torch.zeros(1, 2, 1, 5), torch.zeros(1, 2, 2, 5)  # keys 2 and 3
    with from_query(3):
        mask = found.decoder[0].mask(None, query, key)
        weights = found.decoder[0].weights(torch.full((1, 2, 1, 2), 0.5), mask)
    assert (mask[0, :, 0] < -1).tolist() == [[False, False], [True, False]]
    assert weights[0, :, 0].tolist() == [[0.25, 0.75], [0.5, 0.5]]
    with from_query(4):
        later = found.decoder[0].mask(None, query, torch.zeros(1, 2, 5, 5))
    assert not later.any()


def test_a_row_without_keys_is_refused_unless_it_had_none():
    found = edits(edit_mask=[("decoder", 0, None, 0, 0)])
    query, key = torch.zeros(1, 2, 2, 5), torch.zeros(1, 2, 2, 5)
    mask = torch.full((1, 1, 2, 2), torch.finfo(torch.float32).min).triu(1)
    with pytest.raises(MaskError):
        found.decoder[0].mask(mask, query, key)
    mask[..., 0] = torch.finfo(torch.float32).min
    assert found.decoder[0].mask(mask, query, key)[0, 0, 1, 1] == 0


def test_gates_scale_each_sequence_and_layers_without_one_are_left_alone():
    gates = torch.tensor([[1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 0.5, 1.0]])
    fills = {("decoder", 0): torch.zeros(2, 4), ("decoder", 1): torch.full((2, 4), 8.0)}
    found = edits_for(Interventions(), ANATOMY, gates=gates, fills=fills)
    assert list(found.decoder) == [1]
    changed = found.decoder[1].output(torch.ones(2, 3, 2, 4))
    assert changed[:, 0, :, 0].tolist() == [[1, 8], [4.5, 1]]
    asked = torch.ones(1, 4, requires_grad=True)
    assert list(edits_for(Interventions(), ANATOMY, gates=asked).decoder) == [0, 1]


def test_a_head_is_replaced_by_its_mean():
    means = MeanOutputs("x", {("decoder", layer): torch.full((2, 4), 7.0) for layer in range(2)})
    done = Interventions.gather(ablate=[("decoder", 1, 0, "mean")])
    found = edits_for(done, ANATOMY, means)
    assert list(found.decoder) == [1]
    assert found.decoder[1].output(torch.ones(1, 1, 2, 4))[0, 0, :, 0].tolist() == [7, 1]


@pytest.mark.parametrize(
    "head", [("cross", 0, 0), ("decoder", 2, 0), ("decoder", 0, 2), ("decoder", 0, 0, "mean")]
)
def test_heads_that_do_not_exist_and_means_are_refused(head):
    with pytest.raises(InterventionError):
        edits(ablate=[head])


def test_a_head_that_is_not_there_is_named_as_it_was_typed():
    lines = ["close decoder.2.* 2 1"]
    with pytest.raises(InterventionError, match=r"no head decoder\.2\.\*:"):
        edits(**Interventions.parse(lines).options())
