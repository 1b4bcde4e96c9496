from tests.support.benchmark_output import lines_of


def test_opening_a_cell_and_a_step_have_a_line_each():
    lines = lines_of("inside", "--cells", "2", "--openings", "1")
    names = [line[:24].rstrip() for line in lines]
    assert names == ["opening Inside", "another cell", "one step, Inside closed"]
