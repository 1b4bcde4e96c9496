from dataclasses import replace

import numpy as np
import pytest

from explorer.core.errors import ConfigError
from explorer.core.sites import SITES
from explorer.model.config import ModelConfig
from tests.support.tiny_configs import ALONE, PRIMES


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"heads": 4}, "not_divisible"),
        ({"d_model": 21}, "odd_width"),
        ({"d_model": 0}, "bad_size"),
        ({"d_model": 42.0}, "bad_size"),
        ({"heads": True}, "bad_size"),
        ({"dropout": 1.0}, "bad_number"),
        ({"dropout": float("nan")}, "bad_number"),
        ({"norm": "both"}, "bad_choice"),
        ({"tied_embeddings": True}, "tied_sizes"),
        ({"encoder_layers": 0}, "tied_sizes"),
        ({"tied_embeddings": 0}, "bad_choice"),
        ({"causal": [True]}, "bad_choice"),
        ({"norm_eps": 0.0}, "bad_number"),
        ({"norm_eps": 1}, "bad_number"),
        ({"norm_eps": float("nan")}, "bad_number"),
        ({"encoder_layers": 64, "d_model": 8190, "heads": 1}, "too_many_parameters"),
    ],
)
def test_invalid_sizes_are_refused(change, key):
    with pytest.raises(ConfigError) as caught:
        replace(PRIMES, **change)
    assert caught.value.key == key


def test_a_size_that_is_a_text_is_shown_as_one():
    with pytest.raises(ConfigError, match="heads is '7'; expected a whole number"):
        replace(PRIMES, heads="7")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({}, "source_vocabulary is missing; expected a whole number from 4 to 1000000"),
        ({"source_vocabulary": 5}, "target_vocabulary is missing; expected a whole number from 4"),
        ({"source_vocabulary": 5, "width": 3}, "config is “width”; choose one of source_vocab"),
    ],
)
def test_a_config_with_missing_or_unknown_fields_is_refused(data, sentence):
    with pytest.raises(ConfigError, match=sentence):
        ModelConfig.from_json(data)


def test_a_matrix_is_no_place_of_the_norm():
    with pytest.raises(ConfigError, match="choose one of pre, post"):
        ModelConfig(10, 10, norm=np.ones((2, 2)))


def test_only_another_norm_than_the_usual_one_is_stored():
    """So that files and digests of models trained here stay what they are."""
    stored = PRIMES.to_json()
    assert "norm_eps" not in stored
    assert ModelConfig.from_json(stored) == PRIMES
    other = replace(PRIMES, norm_eps=2e-6)
    assert other.to_json() == stored | {"norm_eps": 2e-6}
    assert ModelConfig.from_json(other.to_json()) == other


@pytest.mark.parametrize("site", SITES)
def test_every_layer_of_a_site_has_all_heads(site):
    heads = [head for head in PRIMES.all_heads if head.site == site]
    assert len(heads) == PRIMES.layers(site) * PRIMES.heads
    assert heads == sorted(set(heads))


def test_a_decoder_alone_has_self_attention_alone():
    assert ALONE.decoder_only
    assert not PRIMES.decoder_only
    assert ALONE.attentions == [("decoder", layer) for layer in range(3)]
