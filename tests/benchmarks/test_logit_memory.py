import sys

import pytest

from tests.support.benchmark_output import lines_here


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_both_ways_are_measured_and_blocks_take_less():
    """200 rows of 100,000 entries: 80 MB of logits a pass, of which a block has 16 MB."""
    sizes = ("--vocabulary", "100000", "--tokens", "200", "--new-tokens", "2", "--width", "8")
    lines = lines_here("logit_memory", *sizes)
    blocks, at_once = (float(line.split(" MB")[0].split()[-1]) for line in lines[:2])
    assert lines[0].startswith("blocks")
    assert lines[1].startswith("at once")
    assert blocks < at_once
    assert float(lines[2].split()[-1]) < 1e-6
