from tests.support.benchmark_output import lines_here


def test_building_opening_and_searching_have_times(tmp_path):
    (tmp_path / "pairs.tsv").write_text("7 3 9\tignored\n4 1\n5\n5\n", "utf-8")
    few = ("--rounds", "1", "--pairs", str(tmp_path / "pairs.tsv"))
    lines = lines_here("search", "--model", "reverse", *few)
    assert lines[0] == "3 texts, reverse, 2 threads"
    assert [line.split()[0] for line in lines[1:]] == ["build", "open", *["first"] * 3, "search"]
    assert "10 texts" in lines_here("search", "--sentences", "10", "--rounds", "1")[0]
