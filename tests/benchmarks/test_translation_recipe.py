from tests.support.benchmark_output import lines_of
from tests.support.toy_sentences import as_table


def test_each_variant_is_trained_and_judged(tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text(as_table(), "utf-8")
    sizes = ("--rows", "240", "--steps", "3", "--width", "16", "--pieces", "400")
    chosen = ("--batch-tokens", "300", "--variants", "full", "plain", "joined")
    lines = lines_of("translation_recipe", str(pairs), *sizes, *chosen)
    assert [line.split("BLEU")[0].strip() for line in lines] == ["full", "plain", "without joined"]
    assert all("ratio" in line and "loss" in line for line in lines)
