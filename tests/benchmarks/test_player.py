from tests.support.benchmark_output import lines_of


def test_every_case_has_a_line():
    lines = lines_of("player", "--steps", "2", "--seconds", "0.5", "--tokens", "200")
    names = [line[:36].rstrip() for line in lines]
    assert names == [
        "Next, 8 heads 32×32",
        "hover link, 8 heads 32×32",
        "Next, 48 heads 64×64",
        "hover link, 48 heads 64×64",
        "Play, 48 heads 64×64",
        "Next, one map 256×256",
        "another head, 512×512",
        "first payload, 144 heads 200×200",
        "page, 144 heads 200×200",
        "Next, 144 heads 200×200",
        "",
        "hover link, 144 heads 200×200",
        "",
    ]
