import pytest

from explorer.core.errors import ConfigError, TraceError
from explorer.heads.head_studies import HeadStudies
from explorer.heads.studied_model import load
from explorer.model.huggingface.traced_model import HuggingFaceModel


@pytest.mark.parametrize("kind", ["opus", "gpt", "bert"])
def test_a_directory_is_the_same_model_with_more_methods(model_folder, kind):
    model = load(model_folder / f"{kind}-tiny", "mine")
    assert isinstance(model, HuggingFaceModel)
    assert isinstance(model, HeadStudies)
    assert repr(model).startswith("HuggingFaceModel('mine', ")
    assert model.trace("5 6 7").facts["model"] == "mine"


@pytest.mark.parametrize("kind", ["opus", "gpt", "bert"])
def test_what_the_library_does_not_give_is_said(model_folder, kind):
    model = load(model_folder / f"{kind}-tiny", "mine")
    with pytest.raises(ConfigError, match=r"“alti” needs .* and “mine” is none; open"):
        model.contributions("5 6 7")


def test_its_residual_stream_is_said_not_to_be_captured(model_folder):
    model = load(model_folder / "opus-tiny", "mine")
    expected = (
        "“mine” is a model of the library transformers, whose residual stream is not captured"
    )
    with pytest.raises(TraceError, match=expected):
        model.logit_attribution("5 6 7")
    with pytest.raises(TraceError, match=expected):
        model.score_parts("5 6 7", "cross", 0, 0, 0, 0)
