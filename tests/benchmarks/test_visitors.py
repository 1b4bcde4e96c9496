import sys

import pytest

from tests.support.benchmark_output import lines_of


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_visitors_are_answered_without_errors():
    lines = lines_of("visitors", "--visitors", "2", "--seconds", "2", "--warm-up", "0")
    assert lines[0].startswith("2 visitors, ")
    assert "0 errors" in lines[0]
    assert lines[1].startswith("median ")
