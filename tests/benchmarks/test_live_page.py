from tests.support.benchmark_output import lines_of


def test_every_case_has_a_line():
    lines = lines_of("live_page", "--runs", "1")
    cases = [
        f"{model}, {what}"
        for model in ("reverse", "english-french")
        for what in ("opened", "traced", "typed", "step", "slowed", "slowed, typed")
    ]
    assert [line[:30].rstrip() for line in lines] == cases
    assert all(line.endswith(" ms") for line in lines)
