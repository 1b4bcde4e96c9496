from tests.support.benchmark_output import lines_here


def test_both_languages_are_measured_on_a_toy_task_and_a_translation():
    lines = lines_here("browser_model", "--runs", "1")
    assert [line.split()[0] for line in lines] == ["reverse", "english-french"]
    assert all(" node " in line and " python " in line for line in lines)
