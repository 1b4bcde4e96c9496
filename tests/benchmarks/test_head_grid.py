from tests.support.benchmark_output import lines_of


def test_every_grid_is_painted():
    lines = lines_of("head_grid", "--rounds", "1", "--tokens", "8")
    assert [line.split(":")[0] for line in lines] == [
        "6×8 heads, 8 tokens",
        "12×12 heads, 8 tokens",
    ]
    assert all("painted" in line and "with the zooming map" in line for line in lines)
