from types import SimpleNamespace

import pytest

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
    assert settings({"pad_token_id": named}).padding == used


def test_ids_that_are_never_chosen():
    listed = {
        "suppress_tokens": [3, 99],
        "bad_words_ids": [[4], [5, 6]],
        "begin_suppress_tokens": [7],
    }
    never = settings(generation=listed).never(2)
    assert {step: ids.tolist() for step, ids in never.items()} == {0: [3, 4], 2: [7]}
    assert all(not len(ids) for ids in settings().never(1).values())


def test_what_greedy_decoding_has_no_part_in_is_named():
    assert settings(generation={"num_beams": 4, "do_sample": False}).not_applied == ["num_beams"]
