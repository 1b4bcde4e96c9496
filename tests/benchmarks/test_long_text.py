import sys

import pytest

from tests.support.benchmark_output import lines_here


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from its files")
def test_what_follows_the_pass_of_a_long_text_has_a_line_each():
    sizes = ("--layers", "2", "--width", "12", "--heads", "3", "--tokens", "8")
    lines = lines_here("long_text", *sizes)
    assert lines[0].startswith("(2, 3, 8, 8), ")
    assert [line.split()[0] for line in lines[1:]] == [
        "trace",
        "finished",
        "payload",
        "payload",
        "memory",
    ]
