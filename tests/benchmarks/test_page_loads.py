import sys

import pytest

from tests.support.benchmark_output import lines_of


@pytest.mark.skipif(sys.platform != "linux", reason="the clock of another process")
def test_a_reload_takes_less_than_a_first_visit():
    first, again = lines_of("page_loads", "--runs", "1", "--warm-up", "1")
    assert first.startswith("first visit: median ")
    assert again.startswith("reload: median ")
    assert int(again.split()[2]) < int(first.split()[3])
