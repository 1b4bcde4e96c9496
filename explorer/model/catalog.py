"""Which models there are to look at: the shipped checkpoints, and what a visitor brings.

The list is read from the files' headers alone, so it is there before torch is; a model is
loaded when it is first asked something. Names are looked up here, never used as paths.
"""

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError, safe_open

from explorer.core import folders
from explorer.core.i18n import say
from explorer.core.trace import Trace
from explorer.core.vocabulary import (
    LONGEST_LINKED_TEXT,
    LONGEST_TEXT,
    SymbolVocabulary,
    shorten,
)
from explorer.model import examples

if TYPE_CHECKING:
    from explorer.model.explorable import ExplorableModel

REMEDY = "python -m explorer train --task reverse --out checkpoints/reverse.safetensors"
"""What to do when there is no model."""

TRACE_SUFFIX = ".trace"
LARGEST_TRACE = 128 * 2**20
"""Bytes an uploaded trace may unfold to: it is kept in memory as long as its visitor stays."""

_FIRST = ("reverse", "english-french", "chinese-english", "copy", "sort", "reverse-early")
"""The order of the shipped models; others follow by name."""

_EXAMPLES = {
    "copy": ("7 3 9 1 4", "甲 乙 丙 丁", "a 1 b 2 c 3", "5 5 2 5 2 2"),
    "reverse": ("7 3 9 1 4", "甲 乙 丙 丁", "1 2 3 4 5 6 7 8 9", "a 甲 b 乙 c 丙", "5 5 2 5 2 2"),
    "sort": ("7 3 9 1 4", "丁 丙 乙 甲", "d 4 b 2 c 3 a 1", "5 5 2 5 2 2"),
}
_LONG_EXAMPLE = "3 甲 7 a 1 乙 9 c 5 丙 2 e 8 丁 4 g"
_WORD = re.compile(r"[^\W\d_]{2}")
_MOST_STORED = 50
_LONGEST_CREDIT = 300
_SENTENCE = "The black cat is sleeping on the red chair."
"""Opens a sentence model that nothing is known of."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to look at: a checkpoint on disk, an uploaded one, or an uploaded trace.

    stamp: differs whenever the contents do.
    symbols: what the model can read; empty for a trace and for a model of sentences.
    longest: tokens it was trained for, or as many as it takes.
    room: tokens it takes.
    description: the checkpoint's facts and sizes, as far as they are shown.
    sentences: whether the model reads any text, in pieces of words.
    """

    name: str
    stamp: str
    symbols: tuple[str, ...] = ()
    longest: int = 0
    room: int = 0
    description: Mapping[str, Any] = field(default_factory=dict, compare=False)
    path: Path | None = None
    model: "ExplorableModel | None" = field(default=None, compare=False, repr=False)
    trace: Trace | None = field(default=None, compare=False, repr=False)
    sentences: bool = False

    @property
    def uploaded(self) -> bool:
        return self.path is None

    @property
    def examples(self) -> tuple[str, ...]:
        """Texts worth looking at; the first is the one to open with."""
        if self.sentences:
            return examples.texts(self.name) or self._stored[:8] or (_SENTENCE,)
        texts = (*_EXAMPLES.get(str(self.description.get("task")), ()), _LONG_EXAMPLE)
        short = (text for text in texts if len(text.split()) <= self.longest)
        fitting = tuple(text for text in short if self.reads(text))
        return fitting or (self.random_text(random.Random(0)),)

    def reads(self, text: str) -> bool:
        """Whether the text makes sense to the model: it has room for it, and knows every symbol
        or, if it reads sentences, finds a word. Of pieces there are at least as many as words;
        their number is the model's own to say."""
        symbols = text.split()
        if not 0 < len(symbols) <= self.room or len(text) > LONGEST_TEXT:
            return False
        return _WORD.search(text) is not None if self.sentences else self._knows(symbols)

    def random_text(self, generator: random.Random) -> str:
        """Five to nine symbols the model knows, as far as it has room, or a sentence that it
        never saw; "" for a trace."""
        if self.sentences:
            return generator.choice(self._stored or self.examples)
        length = min(generator.randint(5, 9), self.longest)
        return " ".join(generator.choices(self.symbols, k=length)) if self.symbols else ""

    @property
    def credit(self) -> str:
        """Whose data the model was trained on; "" where nobody says."""
        return str(self.description.get("credit", ""))

    @property
    def _stored(self) -> tuple[str, ...]:
        """Sentences that its training held out, which the checkpoint brings."""
        stored: tuple[str, ...] = self.description.get("examples", ())
        return tuple(text for text in stored if self.reads(text))

    def _knows(self, symbols: Sequence[str]) -> bool:
        return set(symbols) <= set(self.symbols)

    def load(self) -> "ExplorableModel":
        """The model itself; not for a trace. Raises `CheckpointError`."""
        from explorer.model.explorable import load

        if self.model is not None:
            return self.model
        assert self.path is not None
        return load(self.path)


def shipped() -> dict[str, Entry]:
    """The checkpoints that are there for everybody, by name, the one to open with first."""
    entries = []
    for path in folders.checkpoints().glob("*.safetensors"):
        status = path.stat()
        entries.append(_read_header(path, status.st_mtime_ns, status.st_size))
    ranks = {name: rank for rank, name in enumerate(_FIRST)}
    known = [entry for entry in entries if entry is not None]
    known.sort(key=lambda entry: (ranks.get(entry.name, len(ranks)), entry.name))
    return {entry.name: entry for entry in known}


def bring(file_name: str, data: bytes) -> Entry:
    """The entry of an uploaded checkpoint or trace. Raises `CheckpointError`, `TraceError`."""
    shown = shorten(Path(file_name).name)
    stem = shorten(Path(file_name).stem) or "upload"
    stamp = sha256(data).hexdigest()
    if file_name.lower().endswith(TRACE_SUFFIX):
        trace = Trace.from_bytes(data, shown, limit=LARGEST_TRACE)
        return Entry(f"{stem}{TRACE_SUFFIX}", stamp, trace=trace)
    from explorer.model.checkpoint import from_bytes
    from explorer.model.explorable import ExplorableModel

    checkpoint = from_bytes(data, shown)
    config = checkpoint.model.config
    vocabulary = checkpoint.source_vocabulary
    return Entry(
        name=stem,
        stamp=stamp,
        symbols=vocabulary.symbols if isinstance(vocabulary, SymbolVocabulary) else (),
        sentences=not isinstance(vocabulary, SymbolVocabulary),
        longest=_longest(checkpoint.facts, _room(config.max_length)),
        room=_room(config.max_length),
        description={
            **_shown_facts(checkpoint.facts),
            "encoder_layers": config.encoder_layers,
            "decoder_layers": config.decoder_layers,
            "heads": config.heads,
        },
        model=ExplorableModel(checkpoint, stem),
    )


def describe(entry: Entry, language: str) -> str:
    """The facts in words: "reverse · 2+2 layers · 4 heads · 99.8 % exact"."""
    if entry.trace is not None:
        return say("explore.facts_trace", language, name=entry.name)
    facts = {"name": entry.name, **entry.description}
    parts = [say("explore.facts_sizes", language, **facts)]
    exact = entry.description.get("exact_match")
    if isinstance(exact, int | float) and 0 <= exact <= 1:
        parts.append(say("explore.facts_exact", language, percent=f"{100 * exact:.1f}"))
    bleu = entry.description.get("bleu")
    if isinstance(bleu, int | float) and 0 <= bleu <= 100:
        parts.append(say("explore.facts_bleu", language, score=f"{bleu:.1f}"))
    if entry.uploaded:
        parts.append(say("explore.facts_uploaded", language))
    return " · ".join(parts)


@lru_cache(maxsize=64)
def _read_header(path: Path, changed: int, size: int) -> Entry | None:
    """The entry of a checkpoint file; None when it is none of ours."""
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
        config = json.loads(metadata["config"])
        facts = json.loads(metadata["facts"])
        vocabulary = json.loads(metadata["source_vocabulary"])
        sentences = vocabulary["kind"] == "sentencepiece"
        room = _room(int(config["max_length"]))
        sizes = {key: config[key] for key in ("encoder_layers", "decoder_layers", "heads")}
        return Entry(
            name=path.stem,
            stamp=f"{path}:{changed}:{size}",
            symbols=() if sentences else tuple(vocabulary["symbols"]),
            sentences=sentences,
            longest=_longest(facts, room),
            room=room,
            description=_shown_facts(facts) | sizes,
            path=path,
        )
    except (SafetensorError, OSError, ValueError, KeyError, TypeError):
        return None  # a file that is no model is not on the list


def _shown_facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts a page shows; text that comes with a file is bounded here."""
    shown = {key: facts[key] for key in ("task", "exact_match", "bleu") if key in facts}
    if isinstance(credit := facts.get("credit"), str):
        shown["credit"] = credit[:_LONGEST_CREDIT]
    if isinstance(stored := facts.get("examples"), list):
        texts = (text for text in stored[:_MOST_STORED] if isinstance(text, str))
        shown["examples"] = tuple(text for text in texts if 0 < len(text) <= LONGEST_LINKED_TEXT)
    return shown


def _room(max_length: int) -> int:
    return max_length - 1  # the end of the sequence takes one


def _longest(facts: Mapping[str, Any], room: int) -> int:
    trained = facts.get("longest")
    return min(trained, room) if isinstance(trained, int) and trained > 0 else room
