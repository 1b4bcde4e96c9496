from tests.support.benchmark_output import lines_here

METHODS = ["alti", "value_norm", "value_norm_residual", "rollout", "leave_one_out"]


def test_every_method_has_a_time_and_all_but_the_check_an_agreement():
    few = ("--sentences", "2", "--rounds", "1", "--warm-up", "0")
    lines = lines_here("contributions", "--model", "reverse", *few)
    assert [line.split()[0] for line in lines[:7]] == ["pass", "trace", *METHODS]
    assert lines[8].startswith("reverse, 2 sentences, ")
    assert sorted(line.split()[0] for line in lines[9:]) == sorted([*METHODS[:-1], "attention"])


def test_a_translator_has_sentences_of_its_own():
    few = ("--sentences", "1", "--rounds", "1", "--warm-up", "0")
    assert "english-french, 1 sentences, " in "\n".join(lines_here("contributions", *few))


def test_sentences_of_a_file(tmp_path):
    (tmp_path / "texts.tsv").write_text("7 3 9\tignored\n4 1\n", "utf-8")
    few = ("--rounds", "1", "--warm-up", "0", "--texts", str(tmp_path / "texts.tsv"))
    lines = lines_here("contributions", "--model", "reverse", *few)
    assert lines[8] == "reverse, 2 sentences, 7 output tokens"
