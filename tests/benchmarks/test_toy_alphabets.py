from tests.support.benchmark_output import lines_here


def test_each_task_is_measured_on_each_alphabet():
    *lines, last = lines_here("toy_alphabets", "--draws", "2")
    alphabets = [line.split("  ")[-1] for line in lines]
    assert len(lines) == 15
    assert alphabets[1:5] == ["1 2 3 4 5 6 7 8 9", "a b c d e f g", "甲 乙 丙 丁", "1 2 3"]
    assert [line.split()[0] for line in lines[::5]] == ["copy", "reverse", "sort"]
    assert last.endswith("below the target of 98.5 %")
