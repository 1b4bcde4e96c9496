import pytest

from explorer.app.source_extent import SourceExtent, extent_of
from explorer.core.errors import VocabularyError
from explorer.model.huggingface.loading import open_directory
from tests.support.huggingface_families import saved, tiny_model
from tests.support.model_directories import bert


def test_the_extent_of_a_text_in_a_checkpoint(explorable):
    assert extent_of(explorable, "1 2 3") == SourceExtent(tokens=4, longest=11)
    with pytest.raises(VocabularyError):
        extent_of(explorable, "9")


def test_a_second_text_counts(tmp_path):
    model = open_directory(bert(tmp_path / "bert"))
    one, other = (extent_of(model, text).tokens for text in ("The cat.", "A dog."))
    assert extent_of(model, "The cat.", "A dog.").tokens == one + other - 1  # one [CLS]


def test_the_extent_of_a_text_in_a_directory(tmp_path):
    marian = open_directory(saved(tiny_model("marian"), tmp_path / "marian"))
    assert extent_of(marian, "5 6 7") == SourceExtent(3, 40)
    t5 = open_directory(saved(tiny_model("t5"), tmp_path / "t5"))
    assert extent_of(t5, "5 6 7").longest >= 20_000
    with pytest.raises(VocabularyError):
        extent_of(t5, "999")
