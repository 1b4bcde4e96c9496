import pytest

from explorer.core.errors import ConfigError
from explorer.model.actions import MeanOutputs
from explorer.model.trace_options import (
    TracedModel,
    forces_output,
    input_of,
    refuse_decoding,
    refuse_no_input,
    refuse_of_library,
    refuse_options,
)


def test_output_is_imposed_in_one_way_or_none():
    assert not forces_output(None, None, {})
    assert forces_output("", None, {})
    assert forces_output(None, None, {1: 5})
    with pytest.raises(ConfigError) as caught:
        forces_output("a", None, {1: 5})
    assert caught.value.key == "two_ways_to_force"
    for force in ([5], {"1": 5}, {1: "5"}, {1.0: 5}):
        with pytest.raises(ConfigError) as caught:
            forces_output(None, None, force)
        assert caught.value.key == "bad_force"
    assert "of the type" in str(caught.value)


@pytest.mark.parametrize("wrong", ["all", ["full"], None])
def test_a_capture_that_does_not_exist_is_refused(wrong):
    refuse_options("full", None, "once")
    with pytest.raises(ConfigError):
        refuse_options(wrong, None, "once")


@pytest.mark.parametrize("wrong", ["each", True, None])
def test_a_check_that_does_not_exist_is_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        refuse_options("full", None, wrong)
    assert caught.value.key == "bad_check"


@pytest.mark.parametrize(
    ("given", "key"),
    [
        (("x", None, None), "no_decoder"),
        ((None, "x", None), "no_decoder"),
        ((None, None, 5), "no_new_tokens"),
    ],
)
def test_what_only_a_decoder_has_is_refused_of_an_encoder_alone(given, key):
    refuse_decoding(None, None, None)
    with pytest.raises(ConfigError) as caught:
        refuse_decoding(*given)
    assert caught.value.key == key


@pytest.mark.parametrize("wrong", ["3", 2.0, True, [3], 0, -1])
def test_a_count_is_a_whole_number_and_what_came_is_shown(wrong):
    for right in (None, 1, 500):
        refuse_options("full", None, "once", pad_to=right)
    with pytest.raises(ConfigError) as caught:
        refuse_options("full", None, "once", max_new_tokens=3, pad_to=wrong)
    assert str(caught.value) == f"pad_to is {wrong!r}; it has to be a whole number from 1 on."


def test_means_are_those_of_a_batch():
    refuse_options("full", MeanOutputs("x", {}), "once")
    with pytest.raises(ConfigError, match="of the type dict"):
        refuse_options("full", {}, "once")


@pytest.mark.parametrize(
    "given", [(None, None, None), ("x", None, []), ("x", "y", []), (None, "y", None)]
)
def test_a_trace_is_of_a_text_or_of_messages(given):
    refuse_no_input("x", "y", None)
    refuse_no_input(None, None, [])
    with pytest.raises(ConfigError) as caught:
        refuse_no_input(*given)
    assert caught.value.key == "text_or_messages"


@pytest.mark.parametrize(
    ("given", "key"),
    [
        (("x", None, None, None), "no_pair"),
        ((None, [], None, None), "no_chat_template"),
        ((None, None, "fr", None), "no_languages"),
        ((None, None, None, "fr"), "no_languages"),
    ],
)
def test_what_only_models_of_the_library_read_is_refused(given, key):
    refuse_of_library(None, None, None, None)
    with pytest.raises(ConfigError) as caught:
        refuse_of_library(*given)
    assert caught.value.key == key


def test_what_a_trace_was_given_is_read_from_its_facts():
    facts = {"text": "x", "pair": None, "source_language": "fr", "pad_to": 3}
    assert input_of(facts) == {"text": "x", "source_language": "fr"}
    messages = [{"role": "user", "content": "x"}]
    assert input_of({"text": "<user>x", "messages": messages}) == {"messages": messages}


class Asked(TracedModel):
    """Its trace is what it was asked for."""

    def _traced(self, options):
        return options


def test_trace_gathers_its_options_once_and_checks_them():
    model = Asked()
    asked = model.trace("x", prefix="y", capture="full", layers=[1], ablate=[("cross", 1, 2)])
    assert (asked.text, asked.prefix, asked.target) == ("x", "y", None)
    assert asked.full
    assert asked.forces
    assert asked.choice.layers == (1,)
    assert asked.interventions.texts() == ("ablate cross.1.2",)
    assert not model.trace("x").full
    assert not model.trace("x").forces
    for wrong in ({"capture": "all"}, {"pad_to": 0}, {"max_new_tokens": 0}, {"means": {}}):
        with pytest.raises(ConfigError):
            model.trace("x", **wrong)


def test_a_trace_names_its_interventions_and_the_batch_of_the_means_that_they_need():
    means = MeanOutputs("some texts", {})
    assert Asked().trace("x", means=means).changes == {}
    zero = Asked().trace("x", keep=[("cross", 0, 0)], means=means)
    mean = Asked().trace("x", ablate=[("cross", 1, 2, "mean")], means=means)
    assert zero.changes == {"interventions": ["keep cross.0.0"], "means": None}
    assert mean.changes == {"interventions": ["ablate cross.1.2 mean"], "means": "some texts"}
