from tests.support.benchmark_output import lines_of

LONG = [
    "first payload",
    "weights of a head",
    "pictures of words",
    "pictures of a quarter",
    "checks",
]


def names_of(*arguments: str) -> list[str]:
    lines = lines_of("player", *arguments, "--tokens", "200")
    return [line[:36].rstrip() for line in lines]


def test_every_case_has_a_line():
    assert names_of("--steps", "2", "--seconds", "0.5") == [
        *LONG,
        *LONG,
        "Next, 8 heads 32×32",
        "hover link, 8 heads 32×32",
        "Next, 48 heads 64×64",
        "hover link, 48 heads 64×64",
        "Play, 48 heads 64×64",
        "Next, one map 256×256",
        "another head, 512×512",
        "page, 144 heads 200×200",
        "Next, 144 heads 200×200",
        "",
        "hover link, 144 heads 200×200",
        "",
    ]


def test_what_is_sent_of_a_long_text_is_measured_without_a_browser():
    assert names_of("--long") == [*LONG, *LONG]
