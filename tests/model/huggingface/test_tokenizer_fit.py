"""Whether a tokenizer of a directory belongs to its model."""

import shutil

import pytest
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from explorer.core.errors import ModelDirectoryError
from explorer.model.huggingface.loading import open_directory
from explorer.model.huggingface.tokenizer_fit import doubt, refuse_other_tokenizer
from tests.support import model_directories


def tokenizer(count, **special):
    entries = {f"w{number}": number for number in range(count)}
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.WordLevel(entries)), **special)


OWN = {"pad_token": "w0", "eos_token": "w2"}


@pytest.mark.parametrize(
    ("count", "config"),
    [
        (50295, {"eos_token_id": 2}),  # of 51,200 embeddings, as Phi has
        (51200, {"eos_token_id": [2, 9], "pad_token_id": 0}),  # a chat ends in another way, too
        (51200, {"eos_token_id": 9, "pad_token_id": 0}),  # one that agrees is enough
        (51200, {"pad_token_id": -1, "eos_token_id": 60000}),  # no ids at all
        (51200, {}),
    ],
)
def test_a_tokenizer_that_fits_is_not_doubted(count, config):
    assert doubt(tokenizer(count, **OWN), config, 51200) is None


@pytest.mark.parametrize(
    ("count", "config", "key", "facts"),
    [
        (30522, {}, "small_tokenizer", {"entries": 30522, "size": 51200}),
        (51000, {"eos_token_id": 51100}, "absent_specials", {"ids": "51100"}),
        (51200, {"eos_token_id": 7}, "ordinary_specials", {"ids": "7: w7"}),
    ],
)
def test_a_tokenizer_of_another_model_is_doubted(count, config, key, facts):
    found = doubt(tokenizer(count, **OWN), config, 51200)
    assert (found.key, found.facts) == (key, facts)


def test_one_with_more_entries_is_refused():
    with pytest.raises(ModelDirectoryError, match="91 entries and the model 67"):
        refuse_other_tokenizer(tokenizer(91), 67)


def test_a_smaller_tokenizer_in_a_directory_is_said(tmp_path):
    """Of a model with fewer pieces; with its own one there is nothing to say."""
    folder = model_directories.gpt2(tmp_path / "gpt2")
    assert open_directory(folder).notes == ()
    other = model_directories.bert(tmp_path / "bert")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(other / name, folder / name)
    (note,) = open_directory(folder).notes
    assert note.key == "small_tokenizer"
