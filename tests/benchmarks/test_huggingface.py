from tests.support.benchmark_output import lines_here


def test_each_way_is_compared_with_that_of_the_library():
    sizes = ("--layers", "1", "--width", "16", "--heads", "2", "--tokens", "3", "5")
    lines = lines_here("huggingface", *sizes, "--rounds", "1", "--warm-up", "0")
    assert [line.split()[:3] for line in lines] == [
        [tokens, "tokens", way] for tokens in "35" for way in ("pass", "decoding", "trace")
    ]
    assert all("× its time" in line and "× as fast" in line for line in lines)
