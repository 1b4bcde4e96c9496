import re

from tests.support.benchmark_output import lines_here


def test_every_head_of_both_translators_has_an_error_rate():
    lines = lines_here("gold_alignment", "--pairs", "4")
    rows = [line for line in lines if re.match(r"\| L\d (?:input|prediction) ", line)]
    cells = [float(cell) for row in rows for cell in row.split(" | ")[1:-1]]
    assert all(0 <= cell <= 100 for cell in cells)
    assert sum(line.startswith("best head L") for line in lines) == 2
    assert [line.split(":")[0] for line in lines if "agreement" in line] == [
        "english-french",
        "chinese-english",
    ]
