import pytest

from explorer.core.errors import ConfigError
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
