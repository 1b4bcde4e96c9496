"""Exported models against those they are made of: shipped ones, and random ones of all settings."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
import transformers

import explorer
from explorer.core.errors import FileError, ModelDirectoryError, VocabularyError
from explorer.core.sentencepiece_vocabulary import learn_pieces
from explorer.core.vocabulary import BOS, EOS, PAD, TOY_VOCABULARY, SymbolVocabulary
from explorer.heads.contributions.contributions import METHODS
from explorer.model.checkpoint import Checkpoint, save_checkpoint
from explorer.model.explorable import ExplorableModel, load
from explorer.model.huggingface import export
from explorer.model.huggingface.export import export_directory, library_tokenizer
from explorer.model.huggingface.opening.loading import open_directory
from explorer.model.huggingface.tokens import Tokens, is_usable
from tests.support.huggingface_families import ALL
from tests.support.tiny_configs import PRIMES
from tests.support.toy_sentences import as_table

CHECKPOINTS = Path(__file__).parents[3] / "checkpoints"
WITH_ENCODER = sorted(
    {path.stem for path in CHECKPOINTS.glob("*.safetensors")} - {"induction", "english"}
)
SYMBOLS = SymbolVocabulary(tuple("0123456789"))
TEXTS = {"sentences": 20, "symbols": ("7 3 9 1 4", "甲 1 2 a", "5 5 2 5 2 2", "3")}

READ_ALIKE = [
    "I see 12 cats.",
    "  two\u00a0spaces\u3000and\ta tab ",
    "de\u0301compose\u0301",  # NFD
    "🙂 猫 é € #",
    "▁marks",
    "l’été, où ?",
    "x",
]


@pytest.fixture
def tiny(make_model):
    """A random model of given settings, with one vocabulary."""

    def make(**changes):
        config = replace(PRIMES, target_vocabulary=13, **changes)
        return ExplorableModel(Checkpoint(make_model(config), SYMBOLS, SYMBOLS, {}), "tiny")

    return make


def texts_of(model):
    return tuple(model.facts.get("examples", ()))[:12] or TEXTS["symbols"]


def assert_same(model, other, text, **options):
    """The same tokens; logits, seen as log-probabilities of the candidates, and weights."""
    own, found = (one.trace(text, **options) for one in (model, other))
    assert found.integrity().ok.all(), found.integrity()
    assert (own.source_tokens, own.target_tokens) == (found.source_tokens, found.target_tokens)
    assert (own.predicted_tokens, own.text) == (found.predicted_tokens, found.text)
    for site in own.sites:
        assert (own.mask_reason(site) == found.mask_reason(site)).all()
        np.testing.assert_allclose(own.attention(site), found.attention(site), atol=1e-5)
    best = [trace.steps().query("chosen").probability for trace in (own, found)]
    np.testing.assert_allclose(*map(np.log, best), atol=1e-4)


@pytest.mark.parametrize("name", WITH_ENCODER if ALL else ["reverse"])
def test_a_shipped_model_opens_again_as_it_was(name, tmp_path):
    model = load(CHECKPOINTS / f"{name}.safetensors")
    assert export_directory(model, tmp_path / name) <= 1e-4
    other = open_directory(tmp_path / name)
    assert other.facts["family"] == "pegasus"
    assert not other.notes
    for text in texts_of(model):
        assert_same(model, other, text)
    assert_same(model, other, text, pad_to=len(model.trace(text).source_tokens) + 2)
    assert_generates_the_same(tmp_path / name, model)


def assert_generates_the_same(folder, model):
    """`generate` of the library alone, with what the directory says."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    library = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    for text in texts_of(model)[:3]:
        given = tokenizer(text, return_tensors="pt")
        assert given.input_ids[0].tolist() == [*model.source_vocabulary.encode(text), EOS]
        output = library.generate(**given)[0]
        assert tokenizer.decode(output, skip_special_tokens=True) == model.trace(text).text


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("tied", [True, False])
def test_a_model_of_any_setting_keeps_its_logits(tiny, tmp_path, norm, tied):
    model = tiny(norm=norm, tied_embeddings=tied)
    assert export_directory(model, tmp_path / "x") <= 1e-5
    other = open_directory(tmp_path / "x")
    assert other.facts["family"] == {"pre": "pegasus", "post": "marian"}[norm]
    source, target = torch.tensor([[5, 9, 4, EOS, PAD]]), torch.tensor([[BOS, 6, 11]])
    with torch.inference_mode():
        own = model.transformer(source, target)
        mask = (source != PAD).long()
        found = other.model(input_ids=source, attention_mask=mask, decoder_input_ids=target)
    torch.testing.assert_close(found.logits, own, atol=1e-5, rtol=0)
    assert own.abs().max() > 0.1
    if norm == "post":
        assert_same(model, other, "2 6 1")


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("tied", [True, False])
def test_a_decoder_alone_of_any_setting_keeps_its_logits(tiny, tmp_path, norm, tied):
    model = tiny(norm=norm, tied_embeddings=tied, encoder_layers=0)
    assert export_directory(model, tmp_path / "x") <= 1e-5
    other = open_directory(tmp_path / "x")
    assert (other.facts["family"], other.facts["kind"]) == ("opt", "decoder-only")
    target = torch.tensor([[BOS, 6, 11, 4]])
    with torch.inference_mode():
        own, found = model.transformer(target[:, :0], target), other.model(input_ids=target)
    torch.testing.assert_close(found.logits, own, atol=1e-5, rtol=0)
    assert own.abs().max() > 0.1
    assert_same(model, other, "2 6 1")
    assert_same(model, other, "2 6 1", target="1 4")
    assert_same(model, other, "2 6 1", prefix="5", ablate=[("decoder", 1, 2)])


def test_the_library_alone_continues_as_here(tmp_path):
    model = load(CHECKPOINTS / "induction.safetensors")
    assert export_directory(model, tmp_path / "x") <= 1e-4
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "x")
    library = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "x").eval()
    given = tokenizer("7 3 甲 a 7", return_tensors="pt")
    assert given.input_ids[0].tolist() == [BOS, *model.source_vocabulary.encode("7 3 甲 a 7")]
    (output,) = library.generate(**given)
    written = tokenizer.decode(output[given.input_ids.size(1) :], skip_special_tokens=True)
    assert written == model.trace("7 3 甲 a 7").text
    assert written.startswith("3 甲 a 7 3 甲 a 7")


def test_what_the_library_has_no_class_for_is_refused(tiny, explorable, tmp_path, monkeypatch):
    folder = tmp_path / "x"
    two = replace(explorable.checkpoint, target_vocabulary=SymbolVocabulary(tuple("abcde")))
    for model, key in [
        (tiny(causal=False), "export_not_causal"),
        (ExplorableModel(two, "two"), "export_two_vocabularies"),
        (ExplorableModel(replace(two, facts={"imported": "d2l"}), "own"), "export_imported"),
    ]:
        with pytest.raises(ModelDirectoryError) as caught:
            export_directory(model, folder)
        assert caught.value.key == key
    monkeypatch.setattr(export, "LARGEST_DIFFERENCE", 0.0)
    with pytest.raises(ModelDirectoryError) as caught:
        export_directory(tiny(), folder)
    assert caught.value.key == "export_differs"
    assert not folder.exists()


def test_files_are_not_overwritten_and_nothing_is_left_behind(explorable, tmp_path):
    empty, full, file = tmp_path / "empty", tmp_path / "full", tmp_path / "file"
    empty.mkdir()
    full.mkdir()
    (full / "mine").write_text("x")
    file.write_text("x")
    export_directory(explorable, empty)
    assert open_directory(empty).trace("1 2").text == explorable.trace("1 2").text
    for other, key in ((full, "export_exists"), (file, "is_file")):
        with pytest.raises((ModelDirectoryError, FileError)) as caught:
            export_directory(explorable, other)
        assert caught.value.key == key
    with pytest.raises(FileError):
        export_directory(explorable, file / "below")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "file", "full"]


def test_the_directory_says_where_the_model_comes_from(explorable, tmp_path):
    credit = replace(explorable.checkpoint, facts={"credit": "Tatoeba, CC BY 2.0"})
    export_directory(ExplorableModel(credit, "tiny"), tmp_path / "x")
    assert "Tatoeba, CC BY 2.0" in (tmp_path / "x" / "README.md").read_text()


@pytest.fixture(scope="module")
def pieces():
    return learn_pieces(as_table().splitlines(), 400)


def test_pieces_have_the_same_ids_labels_and_text(pieces):
    tokens = Tokens(library_tokenizer(pieces, 64, begins=False), len(pieces))
    assert is_usable(tokens.tokenizer)
    for text in READ_ALIKE:
        ids, labels = tokens.source(text)
        assert ids == [*pieces.encode(text), EOS]
        assert tokens.decode(ids) == pieces.decode(ids).strip()
        assert tokens.labels(ids) == pieces.labels(ids)
        if text.isascii():
            assert labels == pieces.labels(ids)
    _, labels = tokens.source(READ_ALIKE[1])  # the spaces of the text are in no label
    assert labels == (*pieces.labels(pieces.encode("two spaces and a tab")), "<eos>")


def test_symbols_have_the_same_ids_labels_and_text():
    tokens = Tokens(library_tokenizer(TOY_VOCABULARY, 32, begins=False), len(TOY_VOCABULARY))
    ids, labels = tokens.source(" 7 3\u00a0甲  a")
    assert ids == [*TOY_VOCABULARY.encode("7 3 甲 a"), EOS]
    assert labels == ("7", "3", "甲", "a", "<eos>")
    assert tokens.decode(ids) == "7 3 甲 a"
    assert tokens.target("7 甲") == TOY_VOCABULARY.encode("7 甲")
    with pytest.raises(VocabularyError) as caught:
        tokens.source("7 x")
    assert caught.value.key == "not_tokenized"


def test_a_prompt_begins_with_the_beginning_and_has_no_end(pieces):
    tokenizer = library_tokenizer(pieces, 64, begins=True)
    for text in READ_ALIKE:
        assert tokenizer(text)["input_ids"] == [BOS, *pieces.encode(text)]


def test_a_vocabulary_of_another_kind_is_refused():
    with pytest.raises(ModelDirectoryError):
        library_tokenizer(object(), 5, begins=False)


def test_what_is_measured_of_a_model_of_pieces_is_measured_of_its_export(
    make_model, pieces, tmp_path
):
    """Pieces, unlike symbols, have labels that differ between the two: of bytes, of spaces."""
    config = replace(PRIMES, source_vocabulary=len(pieces), target_vocabulary=len(pieces))
    save_checkpoint(Checkpoint(make_model(config), pieces, pieces, {}), tmp_path / "x.safetensors")
    model = explorer.load(tmp_path / "x.safetensors")
    export_directory(model, tmp_path / "pieces")
    other = explorer.load(tmp_path / "pieces")
    pairs = [("I see 12 cats.", "Je vois é."), ("🙂 猫 a b", "un chat"), ("the the", "le le")]
    one, two = (each.measure(pairs, importance=True, removed_on=2).heads for each in (model, other))
    assert {"entropy", "importance", "zero_loss", "mean_loss", "only_loss"} <= set(one)
    pd.testing.assert_frame_equal(one, two, rtol=0, atol=1e-5)
    for method in METHODS:
        found = [
            each.contributions(pairs[0][0], method, target=pairs[0][1]) for each in (model, other)
        ]
        assert found[0].tokens == found[1].tokens
        np.testing.assert_allclose(found[0].matrix, found[1].matrix, atol=1e-4)
    agreement = [each.contribution_agreement(pairs) for each in (model, other)]
    pd.testing.assert_frame_equal(*agreement, rtol=0, atol=1e-5)
