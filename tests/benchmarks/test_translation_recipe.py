from benchmarks.translation_recipe import STEPS, variants
from explorer.training.config import translation
from tests.support.benchmark_output import lines_here
from tests.support.toy_sentences import as_table


def test_a_variant_leaves_out_one_step_or_all():
    base = translation("pairs.tsv")
    found = dict(variants(base, ["full", "plain", "joined"]))
    assert list(found) == ["full", "plain", "without joined"]
    assert found["full"] == base
    assert {name: getattr(found["plain"], name) for name in STEPS} == STEPS
    assert found["without joined"].joined == 0
    assert found["without joined"].copied == base.copied


def test_a_variant_is_trained_and_judged(tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text(as_table(), "utf-8")
    sizes = ("--rows", "240", "--steps", "3", "--width", "16", "--pieces", "400")
    chosen = ("--batch-tokens", "300", "--patterned", "0", "--variants", "joined")
    lines = lines_here("translation_recipe", str(pairs), *sizes, *chosen)
    assert [line.split("BLEU")[0].strip() for line in lines] == ["without joined"]
    assert "ratio" in lines[0]
    assert "loss" in lines[0]
