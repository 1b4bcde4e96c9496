import pytest

from explorer.core.errors import InterventionError
from explorer.core.interventions import Interventions
from explorer.core.lesson_deeds import is_done, read_deed


@pytest.mark.parametrize(
    ("deed", "now", "done"),
    [
        ("ablate cross.1.2", [], False),
        ("ablate cross.1.2", ["ablate cross.1.2"], True),
        ("ablate cross.1.2", ["ablate cross.1.2 mean", "draw 0.8 7"], True),
        ("ablate cross.1.2", ["ablate cross.1.3", "keep cross.0.2"], False),
        ("ablate cross.1.2; ablate cross.1.3", ["ablate cross.1.3"], False),
        ("ablate cross.1.2; ablate cross.1.3", ["ablate cross.1.3", "ablate cross.1.2"], True),
        ("unmask decoder.1.0 2 4", ["open decoder.1.0 2 4"], True),
        ("unmask decoder.1.0 2 4", ["close decoder.1.0 2 4"], False),
        ("row cross.1.2 2 0,1", ["row cross.1.2 2 0.2,0.5,0.3"], True),
        ("row cross.1.2 2 0,1", ["row cross.1.2 2 0.6,0.4"], False),
        ("row cross.1.2 2 0,1", ["row cross.1.2 3 0,1"], False),
        ("omit mask", ["omit mask"], True),
        ("omit mask", ["omit positions"], False),
    ],
)
def test_a_deed_is_done_when_all_of_its_changes_are_in_force(deed, now, done):
    assert is_done(read_deed(deed), Interventions.parse(now)) is done


def test_what_is_no_change_is_refused():
    with pytest.raises(InterventionError):
        read_deed("ablate cross.1.2; jump")
