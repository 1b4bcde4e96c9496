import sys

import pytest

from tests.support.benchmark_output import lines_of


@pytest.mark.skipif(sys.platform != "linux", reason="processor time is read from its clock")
def test_a_class_follows_without_errors():
    options = ["--guests", "3", "--steps", "3", "--warm-up", "0", "--pace", "0.1"]
    lines = lines_of("class_session", *options)
    assert lines[0].startswith("3 guests, 3 steps, 0 errors")
    assert lines[1].startswith("click to paint in the host's tab: median ")
    assert lines[2].startswith("click to paint in the guest's tab: median ")
    assert lines[3].startswith("processor time of the server: ")
