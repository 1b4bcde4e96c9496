"""Tiny random models as a person downloads them: directories with a config, weights and a tokenizer
that was learned from a few sentences."""

import json
from pathlib import Path
from typing import Any

import sentencepiece
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from tests.support.huggingface_families import saved, tiny_model
from tests.support.toy_sentences import SENTENCES

LINES = [line for pair in SENTENCES for line in pair] + ["猫在这里。", "你看见一只红色的狗 🙂"]
POSITIONS = 400


def marian(folder: Path) -> Path:
    """An encoder–decoder model with SentencePiece pieces, as opus-mt models are."""
    folder.mkdir(parents=True)
    for name in ("source", "target"):
        learned = folder / f"{name}.model"
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(LINES),
            model_prefix=str(folder / name),
            vocab_size=200,
            character_coverage=1.0,
            hard_vocab_limit=False,
            minloglevel=2,
        )
        learned.rename(folder / f"{name}.spm")
        (folder / f"{name}.vocab").unlink()
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.spm"))
    own = [pieces.id_to_piece(number) for number in range(pieces.get_piece_size())]
    entries = ["</s>", "<unk>", *(piece for piece in own if piece[0] != "<"), "<pad>"]
    vocabulary = {piece: number for number, piece in enumerate(entries)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), "utf-8")
    settings = {"tokenizer_class": "MarianTokenizer", "source_lang": "eng", "target_lang": "fra"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")
    pad = vocabulary["<pad>"]
    sizes = {
        "vocab_size": len(entries),
        "pad_token_id": pad,
        "eos_token_id": 0,
        "decoder_start_token_id": pad,
        "max_position_embeddings": POSITIONS,
    }
    model = tiny_model("marian", **sizes)
    model.generation_config.update(
        bad_words_ids=[[pad]], num_beams=6, max_length=POSITIONS, eos_token_id=0, pad_token_id=pad
    )
    return saved(model, folder)


def gpt2(folder: Path) -> Path:
    """A decoder-only model with byte-level BPE."""
    return _byte_level("gpt2", folder, "n_positions", bos_token_id=0, eos_token_id=0)


def bart(folder: Path) -> Path:
    """An encoder–decoder model with byte-level BPE."""
    special = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0, "decoder_start_token_id": 0}
    return _byte_level("bart", folder, "max_position_embeddings", **special)


def _byte_level(name: str, folder: Path, positions: str, **special: int) -> Path:
    """A model of a family with byte-level BPE. positions: how its config calls their number."""
    own = Tokenizer(models.BPE())
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    own.decoder = decoders.ByteLevel()
    end = "<|endoftext|>"
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, special_tokens=[end])
    own.train_from_iterator(LINES, trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=own, eos_token=end, bos_token=end)
    sizes = {"vocab_size": len(tokenizer), positions: POSITIONS}
    saved(tiny_model(name, **special, **sizes), folder)
    tokenizer.save_pretrained(folder)
    return folder


def bert(folder: Path, name: str = "bert", head: str | None = None, **settings: Any) -> Path:
    """An encoder-only model that fills in masks, with WordPiece, or with the `head` of a class of
    the library; settings: of its config."""
    special = {
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
    }
    own = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    own.normalizer = normalizers.BertNormalizer()
    own.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    own.decoder = decoders.WordPiece()
    trainer = trainers.WordPieceTrainer(vocab_size=180, special_tokens=list(special.values()))
    own.train_from_iterator(LINES, trainer)
    own.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=own, **special)
    sizes = {"vocab_size": len(tokenizer), "max_position_embeddings": POSITIONS}
    saved(tiny_model(name, head=head, **{**sizes, **settings}), folder)
    tokenizer.save_pretrained(folder)
    return folder
