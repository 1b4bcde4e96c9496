import pytest
import torch

from explorer.core.errors import InterventionError
from explorer.core.interventions import Interventions
from explorer.model.refused_interventions import refuse_misplaced


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("mask cross.0.0 0 4", "no_such_cell"),
        ("mask cross.0.0 3 0", "no_such_cell"),
        ("unmask encoder.0.0 4 0", "no_such_cell"),
        ("row cross.0.0 3 1", "no_such_row"),
        ("row decoder.0.0 0 1,1,1,1", "too_many_weights"),
        ("mask cross.1.0 2 3", "already_masked"),
        ("unmask cross.0.0 2 3", "already_unmasked"),
    ],
)
def test_what_lies_outside_and_what_changes_nothing_is_refused(line, key):
    """4 source and 3 target tokens; of a site of two layers only layer 1 masks everything."""
    masks = torch.tensor([[True, True], [False, False]])
    with pytest.raises(InterventionError) as caught:
        refuse_misplaced(Interventions.parse([line]), 4, 3, lambda cell: masks.clone())
    assert caught.value.key == key


def test_an_edit_is_refused_only_where_all_its_cells_are_so_already(explorable):
    lines = ["close decoder.0.1 2 1", "close decoder.0.* 2 1", "open decoder.0.1 2 1"]
    trace = explorable.trace("1 2 3", **Interventions.parse(lines).options())
    assert [trace.mask("decoder", 0, head)[2, 1] for head in range(3)] == [False, True, False]
    for line in ("mask cross.0.0 0 4", "unmask cross.0.0 0 3"):
        with pytest.raises(InterventionError, match=f"“{line}” changes nothing"):
            explorable.trace("1 2 3", pad_to=6, **Interventions.parse([line]).options())


def test_a_row_outside_names_no_key(explorable):
    with pytest.raises(InterventionError) as caught:
        explorable.trace("1 2 3", override_row=[("cross", 0, 0, 99, (1.0,))])
    assert str(caught.value).startswith("Query 99 lies outside “cross”, which has")
    assert "key" not in str(caught.value)


def test_too_many_weights_of_a_row_are_counted_in_the_sentence(explorable):
    with pytest.raises(InterventionError, match="7 given, 6 keys"):
        explorable.trace("1 2 3 2 1", override_row=[("cross", 0, 0, 0, (1.0,) * 7)])
