from tests.support.benchmark_output import lines_of


def test_every_moment_has_a_line():
    lines = lines_of("startup", "--runs", "1", "--warm-up", "0")
    assert [line.split()[0] for line in lines] == ["an", "shell", "controls", "heatmap"]
