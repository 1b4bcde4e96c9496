import sys

import pytest

from tests.support.benchmark_output import lines_of


@pytest.mark.skipif(
    sys.platform != "linux", reason="the loopback network has one address elsewhere"
)
def test_another_guest_is_answered_while_one_sends_what_he_can():
    lines = lines_of("class_flood", "chunks", "all", "--seconds", "1", "--rounds", "1")
    assert [line.split(":")[0] for line in lines] == ["chunks", "all"]
    for line in lines:
        assert " worst answer of a round " in line
        assert "(target ≤ 200); median answer " in line
