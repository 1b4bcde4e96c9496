from tests.support.benchmark_output import lines_of


def test_opening_each_view_a_cell_and_a_step_have_a_line_each():
    lines = lines_of("inside", "--cells", "2", "--openings", "1")
    names = [line[:24].rstrip() for line in lines]
    views = ["before", "after", "depth", "without"]
    assert names == [
        "opening Inside",
        *(f"view {view}, first" for view in views),
        *(f"view {view}, again" for view in (*views, "cell")),
        "another cell",
        "one step, Inside closed",
    ]
