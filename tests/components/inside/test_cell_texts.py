"""The equations of *Inside* are true as they are printed, in every cell of every path."""

import re
from collections import Counter
from pathlib import Path

import pytest

import explorer
from explorer.core import folders
from explorer.core.trace import Trace
from explorer.model import examples
from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.opening.loading import open_directory
from tests.support.huggingface_families import TESTED, saved, tiny_model
from tests.support.printed_equations import cell_texts, equations

MODELS = sorted(path.stem for path in folders.shipped_checkpoints().glob("*.safetensors"))
TEXTS = 2
MOST_ROUGH = 0.01


def checked(trace: Trace, language: str = "en") -> Counter[str]:
    """How many cells a trace has, and in how many a sign is "≈"; an equation that is not true
    fails."""
    signs: Counter[str] = Counter()
    for site in filter(lambda name: f"{name}.score_scale" in trace.arrays, trace.sites):
        texts = cell_texts(trace, site, language)
        weights, scores = trace.attention(site).ravel(), trace.scores(site).ravel()
        for text, weight, score in zip(texts, weights, scores, strict=True):
            assert "{" not in "".join(text.values())
            found = list(equations(text))
            assert found[0].says(score, within=1e-4 * max(1, abs(score))), text
            assert len(found) == 2 or found[-1].says(weight, within=1e-4), text
            signs["cells"] += 1
            signs["rough cells"] += any(one.sign == "≈" for one in found)
            for one in found:
                assert one.sign in "=≈", text
                assert one.sign == "≈" or one.holds(), (one, text)
                assert len(re.sub(r"\D", "", one.right.split("·")[0]).lstrip("0")) <= 6, text
    return signs


@pytest.mark.parametrize("name", MODELS)
def test_what_is_printed_on_the_right_follows_from_the_left_in_every_model_that_ships(name):
    model = explorer.load(folders.shipped_checkpoints() / f"{name}.safetensors")
    texts = (examples.for_model(name) or examples.for_task(str(model.facts["task"])))[:TEXTS]
    signs: Counter[str] = Counter()
    for number, text in enumerate(texts):
        padded = number == 0 and not model.transformer.config.decoder_only  # which pads no prompt
        trace = model.trace(text, pad_to=20 if padded else None, capture="full")
        signs += checked(trace, "zh" if number else "en")
    assert signs["cells"] > 1000
    assert signs["rough cells"] <= MOST_ROUGH * signs["cells"]


@pytest.mark.parametrize("part", ["scaling", "positions"])
def test_it_follows_where_a_part_of_the_model_is_left_out(part):
    model = explorer.load(folders.shipped_checkpoints() / "reverse.safetensors")
    signs = checked(model.trace("7 3 9 1 4", without=[part], capture="full"))
    assert signs["cells"] > 500
    assert signs["rough cells"] <= MOST_ROUGH * signs["cells"]


@pytest.mark.parametrize("name", dict.fromkeys([*TESTED, "gpt_oss", "gpt2"]))
def test_it_follows_in_each_family(name, tmp_path):
    model = open_directory(saved(tiny_model(name), Path(tmp_path)))
    more = {} if model.kind == Kind.ENCODER_ONLY else {"max_new_tokens": 6}
    signs = checked(model.trace("5 17 8 41 9 23", pad_to=8, capture="full", **more))
    assert signs["cells"] > 50
    assert signs["rough cells"] <= MOST_ROUGH * signs["cells"]
