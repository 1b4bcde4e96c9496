"""Tiny random models of many languages, as the hub has them: their tokenizers write a token of the
language into each text, and their configs name no language of the output."""

import json
from pathlib import Path
from typing import Any

import sentencepiece
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    M2M100Tokenizer,
    MBart50Tokenizer,
    MBartTokenizer,
    NllbTokenizer,
    PLBartTokenizer,
)
from transformers.models.m2m_100.tokenization_m2m_100 import FAIRSEQ_LANGUAGE_CODES

from tests.support.huggingface_families import saved, tiny_model
from tests.support.model_directories import LINES, POSITIONS

_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
_IDS = {"pad_token_id": 1, "eos_token_id": 2, "max_position_embeddings": POSITIONS}


def m2m100(folder: Path) -> Path:
    """Codes as "fr"; the config of the tokenizer has a language of the output, and it is null."""
    tokenizer = m2m100_tokenizer(folder)
    sizes = {"vocab_size": len(tokenizer) + 8, "decoder_start_token_id": 2}
    model = tiny_model("m2m_100", **_IDS, **sizes)
    model.generation_config.update(eos_token_id=2, pad_token_id=1, num_beams=5, max_length=200)
    return saved(model, folder)


def m2m100_tokenizer(folder: Path) -> Any:
    """The tokenizer alone, in a new folder."""
    folder.mkdir(parents=True)
    pieces = _pieces(folder / "sentencepiece.bpe.model", "bpe")
    vocabulary = {piece: number for number, piece in enumerate([*_SPECIAL, *pieces])}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), "utf-8")
    settings = {
        "src_lang": None,
        "tgt_lang": None,
        "language_codes": "m2m100",
        "tokenizer_class": "M2M100Tokenizer",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")
    codes = [f"__{code}__" for code in FAIRSEQ_LANGUAGE_CODES["m2m100"]]
    special = {"additional_special_tokens": codes}
    (folder / "special_tokens_map.json").write_text(json.dumps(special), "utf-8")
    return M2M100Tokenizer.from_pretrained(folder)


def nllb(folder: Path) -> Path:
    """Codes as "fra_Latn"."""
    tokenizer = nllb_tokenizer()
    sizes = {"vocab_size": len(tokenizer), "decoder_start_token_id": 2}
    saved(tiny_model("m2m_100", **_IDS, **sizes), folder)
    tokenizer.save_pretrained(folder)
    return folder


def nllb_tokenizer() -> Any:
    own = Tokenizer(models.BPE())
    own.pre_tokenizer = pre_tokenizers.Metaspace()
    own.train_from_iterator(LINES, trainers.BpeTrainer(vocab_size=200, special_tokens=_SPECIAL))
    learned = json.loads(own.to_str())["model"]
    return NllbTokenizer(vocab=learned["vocab"], merges=[tuple(one) for one in learned["merges"]])


def mbart(folder: Path, start: str | None = None) -> Path:
    """Codes as "fr_XX": mBART-50; or, with the language `start` that its config has its output
    begin with, an mBART for two languages."""
    folder.mkdir(parents=True)
    tokenizer = mbart_tokenizer(folder, many=start is None)
    first = 2 if start is None else tokenizer.convert_tokens_to_ids(start)
    sizes = {"vocab_size": len(tokenizer), "decoder_start_token_id": first}
    saved(tiny_model("mbart", **_IDS, **sizes), folder)
    tokenizer.save_pretrained(folder)
    return folder


def mbart_tokenizer(folder: Path, *, many: bool = True) -> Any:
    pieces = _pieces(folder / "learned.model", "unigram")
    scored = [(piece, -float(number)) for number, piece in enumerate([*_SPECIAL, *pieces])]
    return (MBart50Tokenizer if many else MBartTokenizer)(vocab=scored)


def plbart_tokenizer(folder: Path) -> Any:
    """Codes of programming languages, as "java", and no language of a text unless one is chosen."""
    _pieces(folder / "learned.model", "bpe")
    return PLBartTokenizer(str(folder / "learned.model"))


def _pieces(path: Path, kind: str) -> list[str]:
    """Pieces learned from a few sentences, without specials; their model is at `path`."""
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES),
        model_prefix=str(path.with_suffix("")),
        model_type=kind,
        vocab_size=200,
        character_coverage=1.0,
        hard_vocab_limit=kind == "bpe",
        minloglevel=2,
    )
    path.with_suffix(".vocab").unlink()
    own = sentencepiece.SentencePieceProcessor(model_file=str(path))
    return [own.id_to_piece(number) for number in range(3, own.get_piece_size())]
