from tests.support.benchmark_output import lines_of


def test_each_model_is_timed_in_each_way():
    lines = lines_of("explore", "--texts", "2")
    named = [line.split()[:2] for line in lines]
    ways = ("untyped", "typed")
    assert named == [[model, way] for model in ("reverse", "english-french") for way in ways]
