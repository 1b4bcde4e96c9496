from tests.support.benchmark_output import lines_here


def test_each_way_is_compared_with_that_of_the_library_or_of_numpy():
    sizes = ("--layers", "1", "--width", "16", "--heads", "2", "--vocabulary", "40")
    counts = ("--tokens", "6", "--sentences", "4", "--length", "5", "--rounds", "1")
    lines = lines_here("library_traces", *sizes, *counts)
    compared = ["gpt2", "bert", "batches", "saving"]
    assert [line.split()[0] for line in lines] == [
        *(title for title in compared for _ in range(3)),
        "memory",
    ]
    assert all(line.endswith("×") for line in lines)
