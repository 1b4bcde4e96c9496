from tests.support.benchmark_output import lines_of


def test_both_ways_are_measured_and_stepping_sends_nothing():
    lines = lines_of("stepping", "--steps", "1", "--warm-up", "1")
    assert [line.split()[0] for line in lines] == ["player", "baseline", "targets:", "messages"]
    assert lines[-1] == "messages to the server while stepping: 0 (target 0)"
