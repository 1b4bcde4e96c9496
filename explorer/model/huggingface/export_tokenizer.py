"""Convert the vocabulary of a model trained here to a library tokenizer with the same ids."""

import re
import sys

from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)
from transformers import PreTrainedTokenizerFast

from explorer.core.errors import ModelDirectoryError
from explorer.core.sentencepiece_vocabulary import UNKNOWN, PieceVocabulary
from explorer.core.vocabulary import BOS, EOS, SPECIALS, SymbolVocabulary, Vocabulary

_SPACES = "".join(sign for sign in map(chr, range(sys.maxunicode + 1)) if sign.isspace())


def library_tokenizer(
    vocabulary: Vocabulary, longest: int, *, begins: bool
) -> PreTrainedTokenizerFast:
    """The tokenizer. It adds the end to each text, or the beginning if `begins`, for a decoder
    alone. Unlike ours, it reads the names of specials in a text as specials.

    longest: the most tokens that the model takes.

    Raises `ModelDirectoryError` on another kind of vocabulary.
    """
    if isinstance(vocabulary, SymbolVocabulary):
        own = _symbols(vocabulary)
    elif isinstance(vocabulary, PieceVocabulary):
        own = _pieces(vocabulary)
    else:
        raise ModelDirectoryError("export_vocabulary")
    added = BOS if begins else EOS
    mark = SPECIALS[added]
    single, second = (f"{mark} $A", "$B") if begins else (f"$A {mark}", f"$B {mark}")
    own.post_processor = processors.TemplateProcessing(
        single=single, pair=f"{single} {second}", special_tokens=[(mark, added)]
    )
    padding, begin, end = SPECIALS
    return PreTrainedTokenizerFast(
        tokenizer_object=own,
        pad_token=padding,
        bos_token=begin,
        eos_token=end,
        clean_up_tokenization_spaces=False,
        model_max_length=longest,
    )


def _symbols(vocabulary: SymbolVocabulary) -> Tokenizer:
    """Symbols between white space; a text with an unknown one is refused."""
    names = [*SPECIALS, *vocabulary.symbols]
    own = Tokenizer(models.WordLevel({name: number for number, name in enumerate(names)}))
    own.normalizer = _one_space()
    own.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return own


def _pieces(vocabulary: PieceVocabulary) -> Tokenizer:
    """The unigram model of SentencePiece, with its bytes and scores."""
    scored = [*((name, 0.0) for name in SPECIALS), *vocabulary.scored()]
    own = Tokenizer(models.Unigram(scored, unk_id=UNKNOWN, byte_fallback=True))
    marks = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    own.normalizer = normalizers.Sequence([normalizers.NFC(), _one_space(), *marks])
    own.decoder = decoders.Sequence(
        [
            decoders.Replace("▁", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    return own


def _one_space() -> normalizers.Normalizer:
    """Normalizer: runs of white space, as Python defines it, become one space; none at the ends."""
    spaces = normalizers.Replace(Regex(f"[{re.escape(_SPACES)}]+"), " ")
    return normalizers.Sequence([spaces, normalizers.Strip()])
