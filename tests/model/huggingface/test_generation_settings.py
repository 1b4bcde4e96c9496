from types import SimpleNamespace

import pytest

from explorer.model.huggingface.anatomy import Kind
from explorer.model.huggingface.generation_settings import GenerationSettings


def settings(config=(), generation=(), text=()):
    whole = SimpleNamespace(get_text_config=lambda: SimpleNamespace(**dict(text)), **dict(config))
    model = SimpleNamespace(config=whole, generation_config=SimpleNamespace(**dict(generation)))
    return GenerationSettings(model, size=10)


def test_the_generation_config_comes_before_the_config():
    one = {"decoder_start_token_id": 3, "bos_token_id": 4, "eos_token_id": 5}
    assert settings(one).start == 3
    assert settings(one, {"decoder_start_token_id": 6}).start == 6
    assert settings({"bos_token_id": 4}).start == 4
    assert settings(text={"bos_token_id": 7}).start == 7
    assert settings().start == 0
    assert settings(one).ends == {5}
    assert settings(one, {"eos_token_id": [1, 2]}).ends == {1, 2}
    assert settings().ends == set()
    assert settings(generation={"forced_bos_token_id": 8}).first == 8
    assert settings().first is None


@pytest.mark.parametrize(("named", "used"), [(1, 1), (None, 0), (10, 0), (-1, 0)])
def test_padding_is_an_id_of_the_model(named, used):
    assert settings({"pad_token_id": named}).padding(None) == used
    assert settings({"pad_token_id": 2}).padding(named) == (named if used else 2)


def test_the_token_that_must_come_first_is_put_there_once():
    assert settings(generation={"forced_bos_token_id": 8}).with_first([5, 6]) == [8, 5, 6]
    assert settings(generation={"forced_bos_token_id": 8}).with_first([8, 6]) == [8, 6]
    assert settings().with_first([5]) == [5]


def test_what_the_configs_name_is_special():
    named = {"bos_token_id": 1, "sep_token_id": 4, "cls_token_id": None}
    found = settings(named, {"eos_token_id": [2, 3], "forced_bos_token_id": 8})
    assert found.special == {1, 2, 3, 4, 8}


def test_ids_that_are_never_chosen():
    listed = {
        "suppress_tokens": [3, 99],
        "bad_words_ids": [[4], [5, 6]],
        "begin_suppress_tokens": [7],
    }
    rules = settings(generation=listed).rules(Kind.DECODER_ONLY, 2, 9, {})
    assert (rules.never.tolist(), rules.never_first.tolist()) == ([3, 4], [7])
    assert not len(settings().rules(Kind.DECODER_ONLY, 1, 9, {}).never)


def test_what_must_come_first_is_forced_unless_something_else_is():
    first = settings(generation={"forced_bos_token_id": 8, "eos_token_id": 2})
    assert first.rules(Kind.ENCODER_DECODER, 1, 9, {2: 5}).forced == {1: 8, 2: 5}
    assert first.rules(Kind.ENCODER_DECODER, 1, 9, {1: 5}).forced == {1: 5}
    assert first.rules(Kind.DECODER_ONLY, 1, 9, {}).forced == {}
    assert first.rules(Kind.DECODER_ONLY, 1, 9, {}).ends.tolist() == [2]


def test_what_greedy_decoding_has_no_part_in_is_named():
    assert settings(generation={"num_beams": 4, "do_sample": False}).not_applied == ["num_beams"]


@pytest.mark.parametrize("odd", ["x", 5.5, True, [[1]], {"a": 1}, ["a"], 10**12, -1, None])
def test_settings_that_are_no_ids_of_the_model_are_left_out(odd):
    """A file may have anything in their place; the library reads them without a word."""
    names = ("eos_token_id", "decoder_start_token_id", "forced_bos_token_id", "suppress_tokens")
    named = dict.fromkeys((*names, "bad_words_ids", "begin_suppress_tokens"), odd)
    found = settings(generation=named)
    rules = found.rules(Kind.ENCODER_DECODER, 1, 9, {})
    assert (found.ends, found.start, found.first) == (set(), 0, None)
    assert rules.never_first.tolist() == rules.ends.tolist() == []
    assert rules.never.tolist() == ([1] if odd == [[1]] else [])
