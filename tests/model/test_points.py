import torch

from explorer.model.points import (
    Point,
    chained,
    changes_encoder,
    first_query,
    from_query,
    kept,
    seen,
)

ONE, OTHER = Point("pattern", "cross", 1), Point("residual", "encoder", 0)


def test_actions_on_one_point_follow_from_left_to_right():
    actions = chained(
        {ONE: lambda value: value + 1}, {OTHER: torch.neg}, {ONE: lambda value: 3 * value}
    )
    assert list(actions) == [ONE, OTHER]
    assert actions[ONE](torch.tensor(4)) == 15
    assert actions[OTHER](torch.tensor(4)) == -4


def test_a_reader_sees_a_value_and_leaves_it():
    readers, values = kept([ONE])
    value = torch.ones(2)
    assert seen(readers[ONE])(value) is value
    assert values[ONE] is value


def test_the_encoder_runs_again_only_for_an_action_on_it():
    assert changes_encoder({OTHER: torch.neg})
    assert not changes_encoder({ONE: torch.neg, Point("heads", "decoder", 0): torch.neg})


def test_the_first_query_is_0_outside_of_a_step():
    with from_query(3):
        assert first_query() == 3
        with from_query(5):
            assert first_query() == 5
        assert first_query() == 3
    assert first_query() == 0


def test_a_plain_tuple_is_the_same_key():
    assert {ONE: 1}["pattern", "cross", 1] == 1
