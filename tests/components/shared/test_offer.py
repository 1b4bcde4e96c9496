from explorer.components.shared.offer import NOTHING, Offer


def test_a_component_asks_for_a_part_of_what_is_offered():
    offered = Offer("trace/x", ("head", "vectors", "score"))
    assert offered.only("score", "path", "head") == Offer("trace/x", ("head", "score"))
    assert NOTHING.only("head") == NOTHING
