from tests.support.benchmark_output import lines_here


def test_traces_are_timed_with_and_without_a_training():
    lines = lines_here("trace_during_training", "--rounds", "2")
    assert [line.split()[0] for line in lines] == ["idle", "training"]
    assert lines[1].endswith("× idle")
