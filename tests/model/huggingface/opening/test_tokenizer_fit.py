"""Whether a tokenizer of a directory belongs to its model."""

import shutil

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from explorer.core.errors import ModelDirectoryError, VocabularyError
from explorer.model.huggingface.opening.loading import open_directory
from explorer.model.huggingface.opening.tokenizer_fit import doubt, surplus
from tests.support import model_directories
from tests.support.huggingface_families import saved, tiny_model


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
        (51150, {"bos_token_id": 1, "eos_token_id": 1}),  # never set, as of falcon-rw-1b
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
        (50600, {"bos_token_id": 1}, "ordinary_specials", {"ids": "1: w1"}),
    ],
)
def test_a_tokenizer_of_another_model_is_doubted(count, config, key, facts):
    found = doubt(tokenizer(count, **OWN), config, 51200)
    assert (found.key, found.facts) == (key, facts)


@pytest.mark.parametrize("count", [69, 91])
def test_one_with_more_ordinary_entries_is_refused(count):
    with pytest.raises(ModelDirectoryError, match=f"{count} entries and the model 67"):
        surplus(tokenizer(count), 67)
    mixed = tokenizer(count, mask_token=f"w{count - 1}")
    with pytest.raises(ModelDirectoryError, match="another model's"):
        surplus(mixed, 67)


def test_special_and_added_tokens_and_one_entry_may_be_without_embeddings():
    assert surplus(tokenizer(67), 67) is None
    one = surplus(tokenizer(68), 67)
    assert (one.key, one.facts["names"]) == ("surplus_entries", "w67")
    added = tokenizer(67, mask_token="<mask>")
    added.add_tokens([f"new{number}" for number in range(8)])
    note = surplus(added, 67)
    assert (note.facts["count"], note.facts["names"][:12]) == (9, "<mask>, new0")
    assert "…" in str(note)
    assert "…" in note.in_language("zh")


def test_a_text_with_an_entry_without_an_embedding_is_refused_and_others_are_read(tmp_path):
    """As <mask> of bart-large-cnn, the last entry of its tokenizer."""
    folder = saved(tiny_model("bart"), tmp_path / "bart")
    entries = {f"w{n}": n for n in range(67)} | {"<mask>": 67}
    own = Tokenizer(models.WordLevel(entries, unk_token="w3"))
    own.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    made = PreTrainedTokenizerFast(tokenizer_object=own, mask_token="<mask>", unk_token="w3", **OWN)
    made.save_pretrained(folder)
    model = open_directory(folder)
    assert [note.key for note in model.notes] == ["surplus_entries"]
    assert model.trace("w5 w6", max_new_tokens=2).source_tokens[0] == "w5"
    for given in ({"text": "w5 <mask>"}, {"text": "w5", "target": "w6 <mask>"}):
        with pytest.raises(VocabularyError) as caught:
            model.trace(**given)
        assert caught.value.key == "no_embedding"
        assert "<mask>" in str(caught.value)
        assert "<mask>" in caught.value.in_language("zh")


def test_a_smaller_tokenizer_in_a_directory_is_said(tmp_path):
    """Of a model with fewer pieces; with its own one there is nothing to say."""
    folder = model_directories.gpt2(tmp_path / "gpt2")
    assert open_directory(folder).notes == ()
    other = model_directories.bert(tmp_path / "bert")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(other / name, folder / name)
    (note,) = open_directory(folder).notes
    assert note.key == "small_tokenizer"
