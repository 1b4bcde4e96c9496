import sys

import pytest

from tests.support.benchmark_output import lines_here


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_every_way_has_a_line():
    lines = lines_here(
        "tracing", "--tokens", "4", "--rounds", "1", "--warm-up", "1", "--growth", "10"
    )
    assert lines[0] == "4 → 4 tokens, classroom sizes, 2 threads, 0 busy processes"
    assert [line.split()[0] for line in lines[1:5]] == ["trace", "threads", "recompute", "marian"]
    assert lines[5].startswith("10 traces: ")


def test_chosen_ways_are_measured_beside_busy_processes():
    chosen = ("--ways", "threads", "--busy", "1", "--tokens", "4", "--rounds", "1")
    lines = lines_here("tracing", *chosen, "--warm-up", "0")
    assert lines[0].endswith("1 busy processes")
    assert [line.split()[0] for line in lines[1:]] == ["trace", "threads"]


def test_the_profile_names_the_linear_layers():
    chosen = ("--ways", "trace", "--tokens", "4", "--rounds", "2", "--warm-up", "1", "--profile")
    names = {line.split()[0] for line in lines_here("tracing", *chosen)[2:]}
    assert {"Python", "aten::addmm"} <= names
