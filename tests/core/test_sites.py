from explorer.core.sites import SITES, Head


def test_a_head_is_a_tuple_with_one_text():
    head = Head(SITES[-1], 1, 2)
    assert head == ("cross", 1, 2)
    assert str(head) == "cross.1.2"
