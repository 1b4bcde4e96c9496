import json
import random
import re
import warnings
from itertools import pairwise

import pytest
import transformers
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)
from tokenizers.processors import BertProcessing
from transformers import ByT5Tokenizer, CTRLTokenizer, PreTrainedTokenizerFast

from explorer.core.errors import ConfigError, VocabularyError
from explorer.core.word_segmentation import grouped
from explorer.model.huggingface.tokens import Tokens, is_usable

PANIC = r"(a|a)*(a|a)*(a|a)*(a|aa)+$|(.*.*.*)*=x"
"""A pattern for which Rust tries too many ways."""

LINES = ["the unbelievable cat", "the cat sat unbelievably", "believe the naive cat's ."] * 4


def learned(kind):
    """A tokenizer of one kind, learned from a few lines."""
    if kind == "byte":
        own = Tokenizer(models.BPE())
        own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        own.decoder = decoders.ByteLevel()
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        trainer = trainers.BpeTrainer(vocab_size=290, initial_alphabet=alphabet)
    elif kind == "inside":
        own = Tokenizer(models.WordPiece(unk_token="[UNK]"))
        own.normalizer = normalizers.BertNormalizer()
        own.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        own.decoder = decoders.WordPiece()
        trainer = trainers.WordPieceTrainer(vocab_size=60, special_tokens=["[UNK]", "[MASK]"])
    elif kind == "end":
        own = Tokenizer(models.BPE(end_of_word_suffix="</w>"))
        own.pre_tokenizer = pre_tokenizers.Whitespace()
        own.decoder = decoders.BPEDecoder("</w>")
        trainer = trainers.BpeTrainer(vocab_size=40, end_of_word_suffix="</w>")
    else:
        own = Tokenizer(models.Unigram())
        own.pre_tokenizer = pre_tokenizers.Metaspace()
        own.decoder = decoders.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=40, unk_token="<unk>", special_tokens=["<unk>"]
        )
    own.train_from_iterator(LINES, trainer)
    unknown = {"inside": "[UNK]", "start": "<unk>"}.get(kind)
    return PreTrainedTokenizerFast(tokenizer_object=own, unk_token=unknown)


@pytest.mark.parametrize("kind", ["byte", "inside", "end", "start"])
def test_the_labels_of_every_kind_merge_to_the_words_of_the_text(kind):
    tokens = Tokens(learned(kind), 400)
    assert tokens.marks == kind
    ids, labels = tokens.source("the catbelieve natelat cat")
    assert len(ids) == len(labels) > 4
    words = [word.label for word in grouped(labels)]
    assert words == ["the", "catbelieve", "natelat", "cat"]
    assert tokens.decode(ids).replace(" ", "") == "thecatbelievenatelatcat"


@pytest.mark.parametrize("kind", ["byte", "end", "start"])
def test_pieces_that_are_predicted_have_the_labels_of_a_text(kind):
    tokens = Tokens(learned(kind), 400)
    ids, labels = tokens.source("the catbelieve natelat cat")
    assert tokens.labels(ids) == labels


APART = {  # tokens beside the pieces → how they are added
    "<|user|>": {"special": True},
    "<end>": {"special": True, "lstrip": True},
    "[begin]": {"special": True, "rstrip": True},
    "<sentinel_1>": {"special": True, "lstrip": True, "rstrip": True},
    "xyz": {},
    "new york": {"lstrip": True},
    "qû": {"rstrip": True},
    "[MASK]": {"special": True},
}


@pytest.mark.parametrize("kind", ["byte", "inside", "end", "start"])
def test_special_and_added_tokens_are_words_of_their_own(kind):
    tokenizer = learned(kind)
    tokenizer.add_tokens([AddedToken(text, **how) for text, how in APART.items()])
    tokens = Tokens(tokenizer, 400)
    added = set(tokenizer.convert_tokens_to_ids(list(APART)))
    chance = random.Random(kind)
    ordinary = ["the", "cat", "believe", "unbelievable sat", "the cat"]
    for _ in range(200):
        parts = chance.choices([*ordinary, *APART], k=chance.randint(1, 8))
        text = parts[0]
        for before, part in pairwise(parts):
            text += (chance.choice(["", " "]) if {before, part} & APART.keys() else " ") + part
        expected = [  # what is between them, at its spaces
            word
            for part in re.split(f"({'|'.join(map(re.escape, APART))})", text)
            for word in ([part] if part in APART else part.split())
        ]
        ids, labels = tokens.source(text)
        words = grouped(labels, tokens.word_mark)
        spelled = [word.label for word in words if word.label != "▁"]  # of a space alone
        assert spelled == expected, text
        for word in words:
            assert word.stop - word.start == 1 or not added & set(ids[word.start : word.stop])
        if kind != "inside":  # outside a text its pieces have no "▁"
            again = grouped(tokens.labels(ids), tokens.word_mark)
            assert [(word.start, word.stop) for word in again] == [
                (word.start, word.stop) for word in words
            ]


def test_special_tokens_between_words_have_the_mark_of_a_word():
    tokenizer = learned("byte")
    tokenizer.add_tokens([AddedToken("<|user|>", special=True), AddedToken("é")])
    tokens = Tokens(tokenizer, 400)
    assert tokens.source("<|user|>sat<|user|>é sat")[1] == (
        *("<|user|>", "▁sat", "▁<|user|>", "▁é", "▁sat"),
    )


@pytest.mark.parametrize("text", ["unbelievable", "مرحبا", "🙂", "猫"])
def test_a_text_without_a_space_is_one_word(text):
    tokens = Tokens(learned("byte"), 400)
    _, labels = tokens.source(text)
    assert len(labels) > 1
    assert [word.label for word in grouped(labels, tokens.word_mark)] == [text]


def test_a_vocabulary_without_marks_has_words_for_pieces():
    own = Tokenizer(models.WordLevel({"[UNK]": 0, "cat": 1, "##": 2, "@@": 3}, unk_token="[UNK]"))
    own.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokens = Tokens(PreTrainedTokenizerFast(tokenizer_object=own, unk_token="[UNK]"), 4)
    assert (tokens.marks, tokens.word_mark) == ("", "")
    assert Tokens(None, 4).word_mark == ""


def test_a_tokenizer_of_bytes_spells_words():
    """ByT5 has a token for each byte of UTF-8 and nothing else."""
    tokens = Tokens(ByT5Tokenizer(), 384)
    _, labels = tokens.source("Hé, 🙂!")
    emoji = ("<0xF0>", "<0x9F>", "<0x99>", "<0x82>")
    assert labels == ("H", "<0xC3>", "<0xA9>", ",", "▁", *emoji, "!", "</s>")
    words = [word.label for word in grouped(labels, tokens.word_mark)]
    assert words == ["Hé", ",", "🙂", "!", "</s>"]


def test_pieces_that_go_on_are_marked_by_two_signs(tmp_path):
    """The BPE of fairseq, which CTRL, PhoBERT and others have: only the last piece is bare."""
    merges = [
        "#version",
        "u n",
        "t h",
        "th e</w>",
        "c a",
        "ca t</w>",
        "un l",
        "o v",
        "ov e</w>",
        "",
    ]
    pieces = ["<unk>", "un@@", "unl@@", "l@@", "i@@", "k@@", "e", "the", "cat", "ove", "s", "ca@@"]
    (tmp_path / "vocab.json").write_text(json.dumps({piece: n for n, piece in enumerate(pieces)}))
    (tmp_path / "merges.txt").write_text("\n".join(merges))
    files = (str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    tokens = Tokens(CTRLTokenizer(*files), 20)
    assert tokens.marks == "joined"
    ids, labels = tokens.source("the unlike cat")
    assert [pieces[number] for number in ids] == ["the", "unl@@", "i@@", "k@@", "e", "cat"]
    assert labels == ("▁the", "▁unl", "i", "k", "e", "▁cat")
    assert [word.label for word in grouped(labels)] == ["the", "unlike", "cat"]
    assert tokens.decode(ids) == "the unlike cat"
    assert tokens.label(1) == "▁un"


def test_labels_are_spelled_as_in_the_text():
    tokens = Tokens(learned("inside"), 400)
    _, labels = tokens.source("The Naïve")
    assert "".join(labels) == "▁The▁Naïve"
    _, labels = tokens.source("the cat's  cat.")
    assert [word.label for word in grouped(labels)] == ["the", "cat's", "cat", "."]
    assert any(tokens.label(number).startswith("##") for number in range(60))


@pytest.mark.parametrize("kind", ["inside", "byte"])
def test_an_accent_of_its_own_is_shown_once(kind):
    """A tokenizer that drops accents leaves it without a token; the letter before shows it."""
    text = "the naive\u0301"
    _, labels = Tokens(learned(kind), 300).source(text)
    shown = "".join(labels).replace("▁", " ").strip()
    assert shown.replace("<0xCC>", "\u0301").replace("<0x81>", "") == text


def test_what_a_tokenizer_does_not_know_belongs_to_its_word():
    _, labels = Tokens(learned("inside"), 400).source("the 猫 cat")
    assert labels == ("▁the", "▁[UNK]", "▁cat")


def test_the_bytes_of_a_character_belong_together():
    tokens = Tokens(learned("byte"), 400)
    ids, labels = tokens.source("cat 你\n🙂")
    assert "<0xE4>" in labels
    assert "⏎" in labels
    words = [word.label for word in grouped(labels)]
    assert "你" in words
    assert words[-1] == "🙂"
    assert tokens.labels(ids)[-1] == labels[-1]


def test_without_a_tokenizer_the_text_is_ids():
    tokens = Tokens(None, 67)
    assert tokens.source("5 17 8") == ([5, 17, 8], ("5", "17", "8"))
    assert tokens.decode([5, 17]) == "5 17"
    digits = "9" * 5000
    wrong = [("five", "not_ids"), ("5 67", "id_too_large"), (" ", "not_ids"), (digits, "not_ids")]
    for text, key in wrong:
        with pytest.raises(VocabularyError) as caught:
            tokens.source(text)
        assert caught.value.key == key


def test_an_id_beyond_the_embeddings_is_refused():
    with pytest.raises(VocabularyError) as caught:
        Tokens(learned("inside"), 5).source("the cat")
    assert caught.value.key == "no_embedding"


def test_embeddings_without_an_entry_are_labelled_by_their_number(model_folder):
    """As the 28 that T5 has beyond its tokenizer; the tokenizer of Marian raises on such ids."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends a package
        tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder / "opus-tiny")
    entries = len(tokenizer.get_vocab())
    tokens = Tokens(tokenizer, entries + 5000)
    own = tokens.source("The cat")[0][0]
    beyond = entries + 4999
    assert tokens.labels([own, beyond]) == (tokens.label(own), str(beyond))
    assert tokens.decode([own, beyond]) == tokens.decode([own])


def test_a_tokenizer_without_entries_is_not_usable():
    assert is_usable(learned("byte"))
    empty = Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    assert not is_usable(PreTrainedTokenizerFast(tokenizer_object=empty, unk_token="[UNK]"))


def test_a_panic_in_rust_is_an_error_of_the_text():
    """It is no `Exception`, so a page ran for ever."""
    own = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1}, unk_token="[UNK]"))
    own.pre_tokenizer = pre_tokenizers.Split(Regex(PANIC), "isolated")
    tokens = Tokens(PreTrainedTokenizerFast(tokenizer_object=own, unk_token="[UNK]"), 2)
    assert tokens.source("=x")[1] == ("▁[UNK]",)
    for read in (tokens.source, tokens.target):
        with pytest.raises(VocabularyError) as caught:
            read("a" * 500 + "b")
        assert caught.value.key == "not_tokenized"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_no_error_of_the_text(error, monkeypatch):
    tokenizer = learned("inside")
    monkeypatch.setattr(type(tokenizer), "decode", lambda *_, **__: (_ for _ in ()).throw(error))
    with pytest.raises(error):
        Tokens(tokenizer, 60).decode([1])


def test_padding_has_the_label_of_the_tokenizer_where_that_is_known_as_padding():
    own = learned("inside")
    tokens = Tokens(own, 400)
    assert tokens.padding_label(0) == "<pad>"  # none of its own
    own.add_special_tokens({"pad_token": "[PAD]"})
    assert tokens.padding_label(own.pad_token_id) == "[PAD]"
    assert tokens.padding_label(0) == "<pad>"  # an id of the config, which spells text
    own.pad_token = "[FILL]"
    assert tokens.padding_label(own.pad_token_id) == "<pad>"
    assert Tokens(None, 9).padding_label(0) == "<pad>"


def test_a_second_text_has_labels_and_places_of_its_own():
    own = learned("inside")
    own.add_special_tokens({"cls_token": "[CLS]", "sep_token": "[SEP]"})
    own.backend_tokenizer.post_processor = BertProcessing(
        ("[SEP]", own.sep_token_id), ("[CLS]", own.cls_token_id)
    )
    tokens = Tokens(own, 400)
    found = tokens.read("the Cat", "naïve cat")
    second = found.second
    assert found.labels[second] == "▁naïve"[: len(found.labels[second])]
    assert [word.label for word in grouped(found.labels)] == [
        *("[CLS]", "the", "Cat", "[SEP]", "naïve", "cat", "[SEP]")
    ]
    assert found.segments == (0,) * second + (1,) * (len(found.ids) - second)
    assert found.spelled(1, second - 1) == "the Cat"
    assert found.spelled(second, len(found.ids) - 1) == "naïve cat"
    assert found.spelled(0, 1) == "[CLS]"
    assert tokens.read("the Cat").second is None
    with pytest.raises(ConfigError):
        Tokens(None, 9).read("5", "6")
