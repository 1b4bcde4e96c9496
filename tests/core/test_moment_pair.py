import pytest

from explorer.core.moment_pair import MomentPair


@pytest.mark.parametrize("run", ["recorded/reverse", "runs/reverse-3", "runs/my run"])
def test_a_pair_is_read_as_it_was_written(run):
    pair = MomentPair(run, 50, 1000)
    assert str(pair) == f"{run}@50-1000"
    assert MomentPair.parse(str(pair)) == pair


@pytest.mark.parametrize(
    "word",
    [
        "",
        "reverse",
        "recorded/reverse",
        "recorded/reverse@50",
        "other/reverse@1-2",
        "recorded/reverse@1-x",
        "recorded/reverse@-1-2",
        "recorded/@1-2",
        f"runs/{'r' * 81}@1-2",
    ],
)
def test_anything_else_is_none(word):
    assert MomentPair.parse(word) is None
