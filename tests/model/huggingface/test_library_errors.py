import pickle
import warnings

import pytest
import transformers

from explorer.core.errors import ConfigError, ModelDirectoryError
from explorer.model.huggingface.library_errors import reason_of, reported


def test_an_error_of_the_library_is_one_sentence_with_its_reason():
    with pytest.raises(ModelDirectoryError) as caught, reported("cannot_run", family="bert"):
        raise ValueError("no such\n  size")
    assert caught.value.key == "cannot_run"
    assert "(no such size)" in str(caught.value)
    assert "“bert”家族" in caught.value.in_language("zh")
    assert "（“no such size”）" in caught.value.in_language("zh")


def test_a_reason_is_one_short_line():
    assert reason_of(ValueError("a" * 500)) == "a" * 300 + "…"
    assert reason_of(ValueError()) == "ValueError"
    assert reason_of(KeyError("nope")) == "KeyError: 'nope'"


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        (
            "No such file: /srv/models/my bert/model-2.safetensors",
            "No such file: my bert/model-2.safetensors",
        ),
        ("cannot read '/srv/models/tiny/x.json'", "cannot read 'x.json'"),
        (r"cannot read C:\Users\me\tiny\x.json", "cannot read x.json"),
        (
            "see https://huggingface.co/docs/hub/models",
            "see https://huggingface.co/docs/hub/models",
        ),
        ("openai/gpt2 and/or ./x/y.json", "openai/gpt2 and/or ./x/y.json"),
    ],
)
def test_a_reason_names_no_folder_of_the_machine(told, shown):
    assert reason_of(OSError(told)) == shown


def test_an_error_of_ours_and_an_interrupt_stay_what_they_are():
    for error in (ConfigError("no_chat_template"), KeyboardInterrupt(), SystemExit(2)):
        with pytest.raises(type(error)), reported("cannot_run", family="bert"):
            raise error


def test_a_panic_in_rust_is_reported_although_it_is_no_exception():
    panic = type("PanicException", (BaseException,), {})
    told = pytest.raises(ModelDirectoryError, match="it panicked")
    with told, reported("cannot_run", family="bert"):
        raise panic("it panicked")


def test_of_code_in_a_pickle_it_says_that_nothing_was_run():
    told = pytest.raises(ModelDirectoryError, match="nothing of it was run")
    with told, reported("library_refuses", name="x", version="1"):
        raise pickle.UnpicklingError("try weights_only=False")


def test_warnings_bars_and_logs_are_silent_and_then_as_they_were(recwarn):
    levels = (transformers.logging.get_verbosity(), transformers.logging.is_progress_bar_enabled())
    with reported("cannot_run", family="bert"):
        warnings.warn("Recommended: pip install more.", stacklevel=1)
        assert transformers.logging.get_verbosity() == transformers.logging.ERROR
        assert not transformers.logging.is_progress_bar_enabled()
    assert not [one for one in recwarn if "Recommended" in str(one.message)]
    after = (transformers.logging.get_verbosity(), transformers.logging.is_progress_bar_enabled())
    assert after == levels
