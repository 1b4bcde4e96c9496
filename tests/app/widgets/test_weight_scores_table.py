"""Roles, on Heads: below them what the weights alone say."""

import pytest

from explorer.app.widgets import weight_scores_table
from explorer.app.widgets.head_tables import interval
from explorer.app.widgets.messages import literal
from explorer.core import folders
from explorer.core.i18n import say
from explorer.heads.circuits.weight_scores import weight_scores
from explorer.model.explorable import load
from tests.support.app_pages import open_page
from tests.support.app_server import ROOT


def test_the_table_has_the_scores_of_every_head_of_a_model_trained_here():
    assert weight_scores_table.__doc__
    app = open_page("heads", model="induction", part="roles")
    assert not app.exception
    (fold,) = [one for one in app.expander if one.label.startswith("By the weights alone")]
    (table,) = fold.dataframe
    shown, expected = table.value, weight_scores(load(ROOT / "checkpoints/induction.safetensors"))
    assert shown["head"].tolist() == [f"L{layer} H{head}" for layer in (0, 1) for head in range(4)]
    names = {"at_offset": "positional", "chance": "positional_chance"}
    for own, name in {"copying": "copying", "offset": "offset", **names}.items():
        assert shown[own].tolist() == pytest.approx(expected[name].astype(float).tolist())
    for own, name in names.items():
        ends = zip(expected[f"{name}_low"], expected[f"{name}_high"], strict=True)
        assert shown[f"{own}_interval"].tolist() == [interval(*pair) for pair in ends]
    meanings, about = (caption.value for caption in fold.caption)
    assert literal(say("heads.weights_chance_title")) in meanings
    assert about == literal(say("heads.weights_alone_about"))  # nothing is missing


def test_an_encoder_has_a_dash_for_copying_and_cross_attention_for_the_offset():
    app = open_page("heads", model="reverse", part="roles", lang="zh")
    (fold,) = [one for one in app.expander if one.label.startswith("仅凭权重")]
    table = fold.dataframe[0].value
    reasons = [say(f"heads.{key}", "zh") for key in ("no_copying_below", "no_offset_cross")]
    assert fold.caption[1].value.endswith(literal(" ".join(reasons)))
    assert table.copying.isna().tolist() == [True] * 8 + [False] * 16
    assert table.copying_interval.tolist()[:8] == ["–"] * 8
    assert table.offset.isna().tolist() == [False] * 16 + [True] * 8


def test_a_model_of_the_library_has_them_where_its_logits_are_a_linear_map(
    model_folder, monkeypatch
):
    monkeypatch.setenv(folders.MODELS_VARIABLE, str(model_folder))
    app = open_page("heads", model="gpt-tiny", part="roles")
    assert not app.exception
    (fold,) = [one for one in app.expander if one.label.startswith("By the weights alone")]
    assert fold.dataframe[0].value.copying.notna().all()
    app = open_page("heads", model="bert-tiny", part="roles")
    (fold,) = [one for one in app.expander if one.label.startswith("By the weights alone")]
    assert fold.dataframe[0].value.copying.isna().all()
    assert fold.caption[1].value.endswith(literal(say("heads.no_copying")))
