from itertools import product

from tests.support.benchmark_output import lines_of


def test_every_moment_of_both_ways_to_start_has_a_line():
    lines = lines_of("startup", "--runs", "1", "--warm-up", "0")
    moments = product(("app.py", "command"), ("shell", "controls", "heatmap", "text"))
    assert [tuple(line.split()[:2]) for line in lines] == [("an", "empty"), *moments]
