from tests.support.benchmark_output import lines_here


def test_the_figures_are_computed_and_a_missing_library_is_named():
    lines = lines_here("transformer_lens", "--layers", "2", "--width", "12", "--heads", "3")
    assert [line.split()[:2] for line in lines[:3]] == [
        ["heads", "6"],
        ["residual", "8"],
        ["attribution", "6"],
    ]
    assert lines[3].startswith(("TransformerLens 2 is not installed", "heads"))
