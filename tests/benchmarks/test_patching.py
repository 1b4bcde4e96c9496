from tests.support.benchmark_output import lines_here

TINY = ("--layers", "2", "--width", "12", "--heads", "3", "--tokens", "5", "--rounds", "1")


def test_every_head_is_patched_in_a_model_of_each_kind():
    lines = lines_here("patching", "--model", "induction", "--warm-up", "0", *TINY)
    assert lines[0].startswith("own      induction, 8 heads: ")
    assert " × a trace (" in lines[0]
    assert lines[1].startswith("library  2 × 3 = 6 heads, 5 tokens: ")
