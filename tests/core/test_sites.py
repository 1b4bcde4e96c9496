import pytest

from explorer.core.sites import SITES, Head, given_head, sides


def test_a_head_is_a_tuple_with_one_text():
    head = Head(SITES[-1], 1, 2)
    assert head == ("cross", 1, 2)
    assert str(head) == "cross.1.2"


def test_the_target_attends_to_itself_and_over_the_source():
    assert sides("S", "T") == {"encoder": ("S", "S"), "decoder": ("T", "T"), "cross": ("T", "S")}
    assert tuple(sides(0, 1)) == SITES


@pytest.mark.parametrize(
    "given", [("cross", 1, 0), ["cross", 1, 0], "cross.1.0", Head("cross", 1, 0)]
)
def test_a_head_is_named_by_a_tuple_or_its_text(given):
    heads = [Head("cross", layer, head) for layer in range(2) for head in range(2)]
    assert given_head(given, heads) is heads[2]


@pytest.mark.parametrize("given", ["", "cross.1", "cross.1.2", "cross.1.*", ("cross", 1), None, 3])
def test_what_names_no_head_is_none(given):
    assert given_head(given, [Head("cross", 1, 0)]) is None
