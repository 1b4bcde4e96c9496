"""The checkpoint that a new training begins with, to continue from its weights."""

from pathlib import Path
from typing import Any

from explorer.core.errors import TrainingError
from explorer.core.sentencepiece_vocabulary import PieceVocabulary
from explorer.core.vocabulary import SymbolVocabulary, Vocabulary
from explorer.model.checkpoint import Checkpoint, load_checkpoint
from explorer.model.checkpoint_header import read_header
from explorer.training.config import TrainingConfig

_SIZES = ("d_model", "heads", "encoder_layers", "decoder_layers", "d_ff", "norm", "causal")


def settings_from(path: Path) -> dict[str, Any]:
    """The settings that a training which begins with this file needs: its sizes and symbols.

    Raises `FileError` and `CheckpointError`.
    """
    header = read_header(path)
    settings = {name: getattr(header.config, name) for name in _SIZES}
    settings["longest"] = (header.config.max_length - 2) // 2  # see `TrainingConfig.model_config`
    if symbols := header.symbols("source"):
        return settings | {"symbols": symbols}
    return settings | {
        "pieces": max(header.config.source_vocabulary, header.config.target_vocabulary),
        "joint": header.config.tied_embeddings,
    }


def load_start(config: TrainingConfig) -> Checkpoint | None:
    """The checkpoint that a new training begins with, or None for random weights.

    Raises `TrainingError` when its sizes or its kind of vocabulary differ from the settings,
    `FileError` and `CheckpointError` when it cannot be read.
    """
    if not config.start:
        return None
    checkpoint = load_checkpoint(config.start)
    name = Path(config.start).name
    for vocabulary in (checkpoint.source_vocabulary, checkpoint.target_vocabulary):
        if not _fits(vocabulary, config):
            raise TrainingError("start_vocabulary", name=name)
    found = checkpoint.model.config
    expected = config.model_config(found.source_vocabulary, found.target_vocabulary)
    for size in (*_SIZES, "tied_embeddings"):
        if getattr(found, size) != getattr(expected, size):
            got, needed = getattr(found, size), getattr(expected, size)
            raise TrainingError("start_size", name=name, size=size, got=got, expected=needed)
    return checkpoint


def _fits(vocabulary: Vocabulary, config: TrainingConfig) -> bool:
    """Whether the texts of the training can be written in `vocabulary`."""
    if config.of_sentences:
        return isinstance(vocabulary, PieceVocabulary)
    symbols = isinstance(vocabulary, SymbolVocabulary) and vocabulary.symbols
    return symbols == config.symbols
