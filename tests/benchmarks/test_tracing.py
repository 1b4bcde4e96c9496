import sys

import pytest

from tests.support.benchmark_output import lines_of


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_every_way_has_a_line():
    lines = lines_of(
        "tracing", "--tokens", "4", "--rounds", "1", "--warm-up", "1", "--growth", "10"
    )
    assert lines[0] == "4 → 4 tokens, classroom sizes, 2 threads"
    assert [line.split()[0] for line in lines[1:4]] == ["trace", "recompute", "marian"]
    assert lines[4].startswith("10 traces: ")
