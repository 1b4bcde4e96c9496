import pytest

from explorer.core.errors import ConfigError
from explorer.model.trace_options import forces_output, refuse_capture, refuse_decoding


def test_output_is_imposed_in_one_way_or_none():
    assert not forces_output(None, None, {})
    assert forces_output("", None, {})
    assert forces_output(None, None, {1: 5})
    with pytest.raises(ConfigError) as caught:
        forces_output("a", None, {1: 5})
    assert caught.value.key == "two_ways_to_force"
    with pytest.raises(ConfigError) as caught:
        forces_output(None, None, [5])
    assert caught.value.key == "bad_force"
    assert "of the type list" in str(caught.value)


@pytest.mark.parametrize("wrong", ["all", ["full"], None])
def test_a_capture_that_does_not_exist_is_refused(wrong):
    refuse_capture("full")
    with pytest.raises(ConfigError):
        refuse_capture(wrong)


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
