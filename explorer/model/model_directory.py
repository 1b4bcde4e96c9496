"""A directory of the library transformers as a member of the catalog.

Its files are read without the library, which is imported when the model is first used.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

from explorer.core.number_format import typed_number
from explorer.core.vocabulary import LONGEST_TEXT
from explorer.model import examples
from explorer.model.huggingface.opening.directory_files import mask_token
from explorer.model.listed_model import ListedModel, ModelSummary, TextKind

_SIZES = {  # size → its names in the configs of the library
    "encoder_layers": ("encoder_layers", "num_layers", "num_hidden_layers"),
    "decoder_layers": ("decoder_layers", "num_decoder_layers", "num_layers", "num_hidden_layers"),
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "heads": ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"),
    "decoder_heads": ("decoder_attention_heads",),
}
_LARGEST_SIZE = 2**31
_LONGEST_PREFIX = 80
_HALF = ("float16", "bfloat16")


@dataclass(frozen=True)
class DirectoryModel(ListedModel):
    """A directory with a config and weights below a folder that was named at the start.

    kind: by the files; the loaded model may have another.
    prefixes: for its sentences, such as "translate English to German: ".
    vocabulary: number of ids, 0 if unknown.
    weight_bytes: approximate size of the weights in memory.
    """

    path: Path
    kind: TextKind = field()  # without `field`, the default would be the property of the base
    prefixes: tuple[str, ...]
    vocabulary: int
    weight_bytes: int

    is_own: ClassVar[Literal[False]] = False
    can_share: ClassVar[Literal[True]] = True
    draws_texts: ClassVar[bool] = False  # the files give no texts to draw from

    @cached_property
    def examples(self) -> tuple[str, ...]:
        """Texts for a model of its kind; the first is the initial one."""
        match self.kind:
            case TextKind.IDS:
                return (examples.some_ids(self.vocabulary),)
            case TextKind.MASKED:
                return tuple(text.replace("[MASK]", self.mask) for text in examples.WITH_MASKS)
            case TextKind.PROMPT:
                return examples.PROMPTS
        if self.prefixes:
            return tuple(f"{prefix}{examples.ANY_SENTENCE}" for prefix in self.prefixes)
        return examples.SENTENCES

    def reads(self, text: str) -> bool:
        """Whether `text` is of the kind that the model reads."""
        match self.kind:
            case TextKind.IDS:
                parts = text.split()
                return bool(parts) and all(typed_number(part) is not None for part in parts)
            case TextKind.MASKED:
                return self.mask in text and len(text) <= LONGEST_TEXT
        return self.summary.reads(text)


def directory_model(
    name: str, stamp: str, path: Path, described: Mapping[str, Any], weight_bytes: int, ids: bool
) -> DirectoryModel:
    """The member for a directory.

    described: its config; empty if damaged.
    weight_bytes: size of the weight files. ids: True without a tokenizer.
    """
    text_config = described.get("text_config")
    config = {**text_config, **described} if isinstance(text_config, dict) else described
    kind = TextKind.IDS if ids else _kind(config)
    dtype = config.get("dtype", config.get("torch_dtype"))
    return DirectoryModel(
        name=name,
        stamp=stamp,
        summary=_summary(config),
        path=path,
        kind=kind,
        mask=mask_token(path) if kind == TextKind.MASKED else "",
        reads_pairs=not ids and _reads_pairs(config),
        prefixes=tuple(_prefixes(config)),
        vocabulary=_whole(config.get("vocab_size")),
        weight_bytes=weight_bytes * (2 if dtype in _HALF else 1),  # they become float32
    )


def _kind(config: Mapping[str, Any]) -> TextKind:
    if config.get("is_encoder_decoder") is True:
        return TextKind.SENTENCE
    listed = config.get("architectures")
    name = listed[0] if isinstance(listed, list) and listed else ""
    fills_masks = name != "ElectraForPreTraining"  # which detects replaced tokens
    if fills_masks and str(name).endswith(("ForMaskedLM", "ForPreTraining")):
        return TextKind.MASKED
    generates = ("ForCausalLM", "LMHeadModel", "ForConditionalGeneration")
    return TextKind.PROMPT if str(name).endswith(generates) else TextKind.SENTENCE


def _reads_pairs(config: Mapping[str, Any]) -> bool:
    """Whether a model may read pairs: its head is mostly trained on two texts, or it is an encoder
    alone with segments."""
    listed = config.get("architectures")
    name = str(listed[0]) if isinstance(listed, list) and listed else ""
    if name.endswith(
        ("ForSequenceClassification", "ForQuestionAnswering", "ForNextSentencePrediction")
    ):
        return True
    alone = config.get("is_encoder_decoder") is not True and _kind(config) != TextKind.PROMPT
    return alone and _whole(config.get("type_vocab_size")) > 1


def _summary(config: Mapping[str, Any]) -> ModelSummary:
    """Sizes in a config; the layers of a single stack count as the encoder's."""
    both = config.get("is_encoder_decoder") is True
    heads, in_decoder = _size(config, "heads"), _size(config, "decoder_heads") if both else 0
    return ModelSummary(
        family=_text(config.get("model_type")),
        most_tokens=_whole(config.get("max_position_embeddings")) or LONGEST_TEXT,
        encoder_layers=_size(config, "encoder_layers" if both else "layers"),
        decoder_layers=_size(config, "decoder_layers") if both else 0,
        heads=heads,
        decoder_heads=0 if in_decoder == heads else in_decoder,
    )


def _size(config: Mapping[str, Any], name: str) -> int:
    return next((size for key in _SIZES[name] if (size := _whole(config.get(key)))), 0)


def _prefixes(config: Mapping[str, Any]) -> Iterator[str]:
    """The prefixes by which T5 models of the library select a task."""
    tasks = config.get("task_specific_params")
    for task in tasks.values() if isinstance(tasks, dict) else ():
        prefix = task.get("prefix") if isinstance(task, dict) else None
        if isinstance(prefix, str) and 0 < len(prefix) <= _LONGEST_PREFIX:
            yield prefix


def _whole(value: object) -> int:
    """`value` if it is a size, else 0."""
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return value if 0 < value < _LARGEST_SIZE else 0


def _text(value: object) -> str:
    return value[:_LONGEST_PREFIX] if isinstance(value, str) else ""
