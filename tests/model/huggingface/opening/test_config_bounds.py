"""What a config.json may ask for."""

import pytest

from explorer.core.errors import ModelDirectoryError
from explorer.model.huggingface.opening import config_bounds
from explorer.model.huggingface.opening.config_bounds import refuse_beyond


@pytest.mark.parametrize(
    ("described", "field"),
    [
        ({"num_hidden_layers": 100_000}, "num_hidden_layers"),
        ({"encoder_layers": 2, "decoder_layers": 1001}, "decoder_layers"),
        ({"n_layer": 10**9}, "n_layer"),
        ({"vocab_size": 10**12}, "vocab_size"),
        ({"type_vocab_size": 2**24}, "type_vocab_size"),
        ({"num_labels": 10**9}, "num_labels"),
        ({"text_config": {"hidden_size": 2**60}}, "hidden_size"),
    ],
)
def test_more_than_any_model_has_is_refused_with_the_field(described, field):
    with pytest.raises(ModelDirectoryError) as caught:
        refuse_beyond(described, "tiny")
    assert caught.value.key == "size_beyond"
    for sentence in (str(caught.value), caught.value.in_language("zh")):
        assert f"{field} " in sentence
        assert "“tiny”" in sentence


@pytest.mark.parametrize(
    ("described", "field", "limit"),
    [
        ({"num_hidden_layers": -1}, "num_hidden_layers", 1),
        ({"n_layer": 0}, "n_layer", 1),
        ({"encoder_layers": 2, "decoder_layers": -1}, "decoder_layers", 0),
        ({"vocab_size": 0}, "vocab_size", 1),
        ({"num_attention_heads": -4}, "num_attention_heads", 1),
    ],
)
def test_fewer_than_a_model_needs_are_refused_with_what_is_expected(described, field, limit):
    with pytest.raises(ModelDirectoryError) as caught:
        refuse_beyond(described, "tiny")
    assert caught.value.key == "size_below"
    got = described[field]
    assert f"{field} is {got}, and at least {limit} is expected" in str(caught.value)
    assert f"{field} 为 {got}，而至少应为 {limit}" in caught.value.in_language("zh")


@pytest.mark.parametrize(
    "described",
    [
        {},
        {"encoder_layers": 0, "decoder_layers": 6, "vision_config": {"vocab_size": 0}},
        {"num_hidden_layers": 126, "hidden_size": 18_432, "vocab_size": 262_144},
        {"vocab_size": 901_629, "hidden_size": 768, "max_position_embeddings": 10_485_760},
        {"rope_theta": 2**62, "eos_token_id": [2**31], "vision_feature_layer": -2},
        {"num_hidden_layers": "many", "vocab_size": None, "use_layers": True},
    ],
)
def test_what_models_have_is_not_refused(described, monkeypatch):
    monkeypatch.setattr(config_bounds, "free_memory", lambda: 16 * 2**30)
    refuse_beyond(described, "tiny")


def test_embeddings_and_one_layer_have_to_fit_into_memory(monkeypatch):
    """Of 2 bytes a weight: 2 · 1,024 · (1,024 + 9,216) bytes are 20 MiB."""
    described = {"d_model": 1024, "vocab_size": 9216}
    monkeypatch.setattr(config_bounds, "free_memory", lambda: 20 * 2**20)
    refuse_beyond(described, "tiny")
    monkeypatch.setattr(config_bounds, "free_memory", lambda: 20 * 2**20 - 1)
    with pytest.raises(ModelDirectoryError) as caught:
        refuse_beyond({"text_config": described}, "tiny")
    assert caught.value.key == "too_large"
