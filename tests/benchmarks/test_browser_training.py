from tests.support.benchmark_output import lines_of


def test_a_seed_and_the_medians_have_a_line():
    seed, median = lines_of("browser_training", "--seeds", "1", "--moments", "1")
    assert seed.startswith("seed 0: drawn ")
    assert "step 25/400" in seed
    assert median.startswith("median: drawn ")
    assert median.endswith(" ×")
