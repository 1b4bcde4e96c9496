import sys

import pytest

from tests.support.benchmark_output import lines_of


@pytest.mark.skipif(sys.platform != "linux", reason="processor time is read from its clock")
def test_guests_follow_and_vote_and_a_bare_broadcast_is_measured_beside():
    options = ["--guests", "3", "--steps", "3", "--warm-up", "1", "--pace", "0.2", "--within", "0"]
    lines = lines_of("class_guests", *options)
    assert lines.pop(0).startswith("3 first visits of ")
    assert lines[0] == "3 guests, 3 steps, 0 errors (target 0)"
    assert lines[1].startswith("publish to the last byte at a guest: median ")
    assert lines[2].startswith("3 votes within 0 s: 0 lost")
    assert lines[2].endswith("reveal 204")
    assert lines[3].startswith("memory of all guests: ")
    assert lines[4].startswith("the same bytes in a bare broadcast: median ")
    assert lines[4].endswith(" 0 errors")
    assert lines[5].startswith("the server spends ")
