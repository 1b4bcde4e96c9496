"""Write a model trained here as a directory of the library, with the same logits, and a tokenizer
with the same ids.

A pre-norm model becomes a Pegasus, a post-norm one a Marian: both add sinusoids, scale the
embeddings and have a bias of the logits, as our models do. A decoder alone becomes an OPT, which
does none of the three: its table of positions holds sinusoids, its embeddings are stored scaled.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)
from torch import Tensor

from explorer.core.errors import FileError, ModelDirectoryError
from explorer.core.files import printable, unwritable
from explorer.core.sentencepiece_vocabulary import UNKNOWN, PieceVocabulary
from explorer.core.vocabulary import BOS, EOS, PAD, SPECIALS, SymbolVocabulary, Vocabulary
from explorer.model.config import ModelConfig
from explorer.model.explorable import ExplorableModel
from explorer.model.huggingface.export_weights import library_weights
from explorer.model.trace_options import AFTER_PROMPT
from explorer.model.transformer import Transformer

_IDS: dict[str, Any] = {"pad_token_id": PAD, "bos_token_id": BOS, "eos_token_id": EOS}

LARGEST_DIFFERENCE = 1e-4
"""Largest difference of a logit between the two models."""

_SPACES = "".join(sign for sign in map(chr, range(sys.maxunicode + 1)) if sign.isspace())


def export_directory(model: ExplorableModel, folder: Path) -> float:
    """Write `model` with its tokenizer to a new or empty `folder`, for the library and for
    `open_directory`. Returns the largest difference of a logit on random sequences.

    Raises `ModelDirectoryError` if the library has no class for the model, if the folder is not
    empty, and if the logits differ. Raises `FileError` if `folder` is a file or cannot be written.
    """
    _refuse(model, folder)
    config = model.transformer.config
    tokenizer = library_tokenizer(
        model.source_vocabulary, config.max_length, begins=config.decoder_only
    )
    exported = _library_model(model.transformer)
    difference = _difference(model.transformer, exported)
    if not difference <= LARGEST_DIFFERENCE:
        raise ModelDirectoryError("export_differs", error=f"{difference:.1e}")
    bar = transformers.logging.is_progress_bar_enabled()
    transformers.logging.disable_progress_bar()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as name:
            made = Path(name, "model")
            exported.save_pretrained(made)
            tokenizer.save_pretrained(made)
            (made / "README.md").write_text(_card(model), encoding="utf-8")
            if folder.is_dir():
                folder.rmdir()
            shutil.move(made, folder)
    except OSError as error:
        raise unwritable(folder, error) from error
    finally:
        if bar:
            transformers.logging.enable_progress_bar()
    return difference


def _refuse(model: ExplorableModel, folder: Path) -> None:
    if not model.transformer.config.causal:
        raise ModelDirectoryError("export_not_causal", name=model.name)
    if model.source_vocabulary != model.target_vocabulary:
        imported = "imported" in model.facts  # its source has the start as a symbol as well
        key = "export_imported" if imported else "export_two_vocabularies"
        raise ModelDirectoryError(key, name=model.name)
    if folder.exists() and not folder.is_dir():
        raise FileError("is_file", name=printable(folder.name))
    if folder.exists() and any(folder.iterdir()):
        raise ModelDirectoryError("export_exists", name=folder.name)


def _library_model(model: Transformer) -> Any:
    """The library's model with the weights of `model`."""
    alone = model.config.decoder_only
    exported = (_decoder_alone if alone else _both_stacks)(model.config).eval()
    weights = library_weights(model)
    initial = exported.state_dict()
    exported.load_state_dict({name: weights.get(name, initial[name]) for name in initial})
    exported.generation_config = transformers.GenerationConfig(
        **_IDS,
        decoder_start_token_id=None if alone else BOS,
        suppress_tokens=[PAD, BOS],  # never chosen here
        max_new_tokens=AFTER_PROMPT if alone else model.config.max_length,
        num_beams=1,
        do_sample=False,
    )
    return exported


def _decoder_alone(settings: ModelConfig) -> Any:
    """The library's model of these sizes, of a decoder alone."""
    config = transformers.OPTConfig(
        vocab_size=settings.target_vocabulary,
        max_position_embeddings=settings.max_length,
        hidden_size=settings.d_model,
        word_embed_proj_dim=settings.d_model,
        num_hidden_layers=settings.decoder_layers,
        num_attention_heads=settings.heads,
        ffn_dim=settings.d_ff,
        dropout=settings.dropout,
        do_layer_norm_before=settings.norm == "pre",
        activation_function="relu",
        tie_word_embeddings=False,  # the embeddings are scaled, the map to logits is not
        **_IDS,
    )
    return transformers.OPTForCausalLM(config)


def _both_stacks(settings: ModelConfig) -> Any:
    """The library's model of these sizes, of an encoder and a decoder."""
    pre = settings.norm == "pre"
    config_class = transformers.PegasusConfig if pre else transformers.MarianConfig
    sizes = {
        "vocab_size": settings.source_vocabulary,
        "max_position_embeddings": settings.max_length,
        "d_model": settings.d_model,
        "encoder_layers": settings.encoder_layers,
        "decoder_layers": settings.decoder_layers,
        "encoder_attention_heads": settings.heads,
        "decoder_attention_heads": settings.heads,
        "encoder_ffn_dim": settings.d_ff,
        "decoder_ffn_dim": settings.d_ff,
        "dropout": settings.dropout,
        "tie_word_embeddings": settings.tied_embeddings,
    }
    if not pre:
        sizes["share_encoder_decoder_embeddings"] = settings.tied_embeddings
    config = config_class(
        **sizes,
        **_IDS,
        decoder_start_token_id=BOS,
        forced_eos_token_id=None,
        activation_function="relu",
        scale_embedding=True,
    )
    kind = transformers.PegasusForConditionalGeneration if pre else transformers.MarianMTModel
    return kind(config)


def library_tokenizer(
    vocabulary: Vocabulary, longest: int, *, begins: bool
) -> transformers.PreTrainedTokenizerFast:
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
    return transformers.PreTrainedTokenizerFast(
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


@torch.inference_mode()
def _difference(model: Transformer, exported: Any) -> float:
    """The largest difference of a logit, on two random texts; one has a padded source."""
    config, generator = model.config, torch.Generator().manual_seed(0)

    def some(length: int) -> Tensor:
        size = (2, min(length, config.max_length))
        return torch.randint(len(SPECIALS), config.source_vocabulary, size, generator=generator)

    source, target = some(16), some(12)
    source[0, source.size(1) // 2 :] = PAD
    target[:, 0] = BOS
    if config.decoder_only:
        other = exported(input_ids=target).logits
        return float((model(target[:, :0], target) - other).abs().max())
    mask = (source != PAD).long()
    other = exported(input_ids=source, attention_mask=mask, decoder_input_ids=target).logits
    return float((model(source, target) - other).abs().max())


def _card(model: ExplorableModel) -> str:
    """README of the directory: name, training data, command and task."""
    lines = [f"# {model.name}", "", "Exported by attention-explorer."]
    told = {"credit": "Trained on", "command": "Command", "task": "Task"}
    lines += [
        f"- {word}: {model.facts[name]}" for name, word in told.items() if name in model.facts
    ]
    return "\n".join([*lines[:3], "", *lines[3:], ""])
