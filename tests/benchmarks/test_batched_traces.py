from tests.support.benchmark_output import lines_here


def test_both_ways_have_a_line():
    lines = lines_here("batched_traces", "--texts", "26", "--alone", "1", "--threads", "1")
    assert lines[0] == "26 texts, english-french, 1 threads"
    assert [line.split()[0] for line in lines[1:]] == ["traces", "trace"]
    assert all(float(line.split()[1]) > 0 for line in lines[1:])
