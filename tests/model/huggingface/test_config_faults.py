"""Wrong values in config.json: which one it is, what came, what was expected."""

import json

import pytest
import transformers

from explorer.core.errors import ModelDirectoryError
from explorer.model.huggingface.config_faults import build_fault, config_fault, size_fault
from explorer.model.huggingface.loading import open_directory
from tests.support.huggingface_families import saved, tiny_model


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    return {family: saved(tiny_model(family), root / family) for family in ("bert", "llama")}


def told(folder, **changes) -> ModelDirectoryError:
    """What opening says with some values of config.json changed."""
    file = folder / "config.json"
    before = file.read_text("utf-8")
    file.write_text(json.dumps(json.loads(before) | changes), "utf-8")
    try:
        with pytest.raises(ModelDirectoryError) as caught:
            open_directory(folder)
    finally:
        file.write_text(before, "utf-8")
    assert caught.value.in_language("zh") != str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    ("field", "value", "got", "expected"),
    [
        ("hidden_size", "abc", '"abc"', "int"),
        ("hidden_size", None, "null", "int"),
        ("num_hidden_layers", 1.5, "1.5", "int"),
        ("num_attention_heads", [2], "[2]", "int"),
        ("vocab_size", True, "true", "int"),
        ("layer_norm_eps", "x", '"x"', "float"),
        ("pad_token_id", "x", '"x"', "int | null"),
        ("hidden_size", -1, "-1", "≥ 1"),
        ("num_hidden_layers", 0, "0", "≥ 1"),
        ("num_hidden_layers", -1, "-1", "≥ 1"),
        ("num_attention_heads", 0, "0", "≥ 1"),
        ("num_attention_heads", -1, "-1", "≥ 1"),
        ("intermediate_size", 0, "0", "≥ 1"),
        ("type_vocab_size", -1, "-1", "≥ 0"),
    ],
)
def test_a_wrong_value_is_named(folders, field, value, got, expected):
    fault = told(folders["bert"], **{field: value})
    assert fault.key == "wrong_value"
    assert f"{field} is {got}, where {expected} is expected" in str(fault)


@pytest.mark.parametrize(
    ("family", "changes", "words"),
    [
        ("bert", {"num_attention_heads": 7}, ["heads", "(7)"]),
        ("bert", {"hidden_act": "exp"}, ["hidden_act", "exp"]),
        ("bert", {"pad_token_id": 10**6}, ["adding_idx"]),
        ("llama", {"layer_types": ["full_attention"] * 7}, ["layer_types", "(7)"]),
    ],
)
def test_values_that_do_not_fit_each_other_are_told_with_the_family(
    folders, family, changes, words
):
    fault = told(folders[family], **changes)
    assert fault.key == "wrong_config"
    for word in [*words, f"“{family}”"]:
        assert word in str(fault)


def test_a_family_that_is_not_there_is_told_as_before(folders):
    assert told(folders["bert"], model_type="no-such-family").key == "unknown_family"


def test_sizes_of_parts_are_looked_at_and_other_numbers_are_not():
    assert size_fault("x", {"pad_token_id": -1, "type_vocab_size": 0, "hidden_size": 4}) is None
    fault = size_fault("x", {"text_config": {"num_layers": -3}})
    assert fault is not None
    assert fault.facts["got"] == "-3"


def test_a_sound_config_has_no_fault():
    config = transformers.BertConfig(hidden_size=8, num_attention_heads=2, num_hidden_layers=1)
    assert build_fault("x", config.to_dict(), transformers.BertModel, config) is None


def test_what_the_library_raises_is_cut_to_one_line():
    fault = config_fault("x", {"model_type": "bert"}, ValueError("a" * 500 + "\nmore"))
    assert fault.facts["reason"] == "a" * 160
