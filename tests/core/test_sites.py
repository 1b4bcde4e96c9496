from explorer.core.sites import SITES, Head, sides


def test_a_head_is_a_tuple_with_one_text():
    head = Head(SITES[-1], 1, 2)
    assert head == ("cross", 1, 2)
    assert str(head) == "cross.1.2"


def test_the_target_attends_to_itself_and_over_the_source():
    assert sides("S", "T") == {"encoder": ("S", "S"), "decoder": ("T", "T"), "cross": ("T", "S")}
    assert tuple(sides(0, 1)) == SITES
