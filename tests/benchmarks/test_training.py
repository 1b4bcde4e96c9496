from tests.support.benchmark_output import lines_here


def test_both_ways_reach_the_goal():
    lines = lines_here(
        "training", "--device", "cpu", "--seeds", "1", "--threads", "1", "--goal", "0"
    )
    assert [line.split()[-1] for line in lines[:2]] == ["steps", "steps"]
    assert [line.split()[0] for line in lines[2:]] == ["ours", "textbook"]
    assert "inf" not in "".join(lines)
