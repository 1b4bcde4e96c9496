"""The settings of a training, their limits, and presets."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

from explorer.core.errors import ConfigError
from explorer.core.files import as_path
from explorer.core.sentencepiece_vocabulary import FEWEST_PIECES
from explorer.core.vocabulary import TOY_VOCABULARY, SymbolVocabulary
from explorer.data.task_names import (
    CONTINUED_TASKS,
    MOST_SYMBOLS,
    TASK_NAMES,
    refuse_unknown_task,
)
from explorer.model.config import ModelConfig

TRANSLATE = "translate"
"""The task of a training on pairs of sentences."""

CONTINUE = "continue"
"""The task of a training on texts, by a decoder alone."""

_SIZES = {  # field → least and most
    "longest": (1, 256),
    "pieces": (FEWEST_PIECES, 64_000),
    "steps": (1, 10_000_000),
    "batch": (1, 65_536),
    "batch_tokens": (0, 1_000_000),
    "average": (0, 100_000),
    "patience": (0, 1_000_000),
    "accumulate": (1, 1024),
    "processes": (1, 64),
    "warmup": (1, 1_000_000),
    "evaluate_every": (1, 1_000_000),
    "seed": (0, 2**31),
}
_NUMBERS = {
    "small_alphabets": (0.0, 1.0),
    "joined": (0.0, 1.0),
    "swapped": (0.0, 1.0),
    "copied": (0.0, 1.0),
    "patterned": (0.0, 1.0),
    "unpunctuated": (0.0, 1.0),
    "subword_alpha": (0.0, 1.0),
    "rate": (1e-8, 1.0),
    "beta1": (0.0, 0.9999),
    "beta2": (0.0, 0.99999),
    "label_smoothing": (0.0, 0.9),
    "clip": (1e-6, 1e6),
    "until": (0.0, 1.0),
}
_SWITCHES = ("joint", "causal")
_TEXTS = ("task", "pairs", "texts", "excluded", "further_pairs", "start", "device")
_CHOICES = {
    "schedule": ("cosine", "inverse-sqrt"),
    "precision": ("float32", "bfloat16"),
    "norm": ("pre", "post"),
}

_RECIPE_STEPS = {"copy": 2000, "reverse": 4000, "sort": 6000, "induction": 2000}
"""Steps after which a toy task is right on every alphabet and length."""

_DEMO_STEPS = {"copy": 400, "reverse": 400, "sort": 600}
"""Steps of a demonstration on a CPU, for short sequences, 99 % of which are right before."""

_ALL_RIGHT = 0.999
"""`until` for "all right": at 1.0 a training would go on to its last step."""

LIMITED_BY_STEPS = ("warmup", "evaluate_every")
"""Settings in steps that cannot exceed the total number of steps; see `refuse_late`."""

_TOY_ONLY = ("task", "symbols", "small_alphabets")
_PAIRS_ONLY = ("further_pairs", "joint", "swapped", "copied", "patterned", "unpunctuated")
_SENTENCES_ONLY = ("columns", "excluded", "pieces", "joined", "subword_alpha", "batch_tokens")
"""Settings of a training on pairs or texts."""

_OLD_RUNS = {"small_alphabets": 0.0}
"""Values of settings that the files of older runs lack, if they differ from the defaults."""


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """All settings of a training; equal configs give equal weights on one machine.

    Raises `ConfigError` on values outside their limits or that contradict each other, and
    `TaskError` on an unknown task.
    """

    task: str = "reverse"
    longest: int = 16  # symbols or pieces in the longest sequence
    symbols: tuple[str, ...] = TOY_VOCABULARY.symbols
    small_alphabets: float = 0.75  # share of the sequences with few different symbols
    pairs: str = ""  # a file of sentences and their translations: the task is to translate
    texts: str = ""  # a file of texts: the task is to continue them, without an encoder
    columns: tuple[str, ...] = (
        "1",
        "2",
    )  # of the two sides: numbers or headings; or of texts
    pieces: int = 8000  # most entries of a SentencePiece vocabulary
    joint: bool = True  # one vocabulary and one embedding for both languages
    excluded: str = ""  # a file whose sources are never trained on
    further_pairs: str = ""  # a file of more pairs, for training only
    joined: float = 0.1  # share of the rows that are two to eight texts, up to the longest
    swapped: float = 0.0  # share of the pairs with names, numbers, listed words that get others
    copied: float = 0.0  # share of copied lines among the texts (Currey et al. 2017)
    patterned: float = 0.0  # share of lines made from sentence patterns, for each pair
    unpunctuated: float = 0.0  # share of the texts without their final mark
    subword_alpha: float = 0.0  # sampled segmentation (Kudo 2018, 1804.10959); 0: most probable
    start: str = ""  # a checkpoint whose weights and vocabulary the training begins with
    d_model: int = 128
    heads: int = 4
    encoder_layers: int = 2
    decoder_layers: int = 2
    d_ff: int = 512
    dropout: float = 0.1
    norm: Literal["pre", "post"] = "pre"
    causal: bool = True  # False leaks: each target position sees the token it must predict
    steps: int = 3000
    batch: int = 64  # sequences a step
    batch_tokens: int = 0  # of pairs: padded tokens of both sides a step, instead of `batch`
    accumulate: int = 1  # parts of a batch whose gradients are summed, to save memory
    rate: float = 2e-3  # the peak of the schedule
    schedule: Literal["cosine", "inverse-sqrt"] = "cosine"
    warmup: int = 100  # steps
    beta1: float = 0.9  # Adam: share of the running mean of the gradient that a step keeps
    beta2: float = 0.98  # the same of its square; the paper's, where Adam's own default is .999
    label_smoothing: float = 0.0
    clip: float = 1.0  # largest norm of the gradient
    precision: Literal["float32", "bfloat16"] = "float32"
    average: int = 0  # steps over which the saved weights are averaged (Polyak & Juditsky 1992)
    patience: int = 0  # evaluations without a lower held-out loss before training stops; 0: never
    until: float = 1.0  # exact match at which training stops early; 1.0 trains to the end
    evaluate_every: int = 100  # steps
    seed: int = 0
    device: str = "auto"
    processes: int = 1  # processes that train one model here, each on its share of every batch

    def __post_init__(self) -> None:
        for file in (self.pairs, self.texts, self.start):
            if not isinstance(file, str) or file:  # "" = none
                as_path(file)
        self._set_task()
        for name, (least, most) in _SIZES.items():
            size = getattr(self, name)
            if type(size) is not int or not least <= size <= most:
                raise ConfigError("bad_size", name=name, got=repr(size), least=least, most=most)
        for name, (low, high) in _NUMBERS.items():
            number = getattr(self, name)
            if type(number) not in (int, float) or not low <= number <= high:
                raise ConfigError("bad_number", name=name, got=repr(number), least=low, most=high)
        for name in _SWITCHES:
            got = getattr(self, name)
            if type(got) is not bool:
                raise ConfigError("bad_choice", name=name, got=got, choices="true, false")
        for name, choices in _CHOICES.items():
            got = getattr(self, name)
            if not isinstance(got, str) or got not in choices:
                raise ConfigError("bad_choice", name=name, got=got, choices=", ".join(choices))
        parts = self.accumulate * self.processes
        if parts > self.batch:
            raise ConfigError("too_many_parts", parts=parts, batch=self.batch)
        alone = bool(self.texts) or self.task in CONTINUED_TASKS
        if alone != (self.encoder_layers == 0):
            raise ConfigError("no_encoder" if alone else "needs_encoder", task=self.task)
        self.vocabulary()
        if len(self.symbols) > MOST_SYMBOLS:
            got = len(self.symbols)
            raise ConfigError("bad_size", name="symbols", got=got, least=1, most=MOST_SYMBOLS)
        self.model_config()

    def _set_task(self) -> None:
        """Name the task of a training on pairs or texts. Raises `ConfigError`, `TaskError`."""
        if self.pairs and self.texts:
            raise ConfigError("pairs_or_texts")
        if self.of_sentences:
            object.__setattr__(self, "task", TRANSLATE if self.pairs else CONTINUE)
        elif isinstance(self.task, str) and self.task in (TRANSLATE, CONTINUE):
            raise ConfigError("no_pairs" if self.task == TRANSLATE else "no_texts_to_continue")
        else:
            refuse_unknown_task(self.task)

    @property
    def of_sentences(self) -> bool:
        """Whether the training is on pairs or texts of a file, not on a toy task."""
        return bool(self.pairs or self.texts)

    def __repr__(self) -> str:
        own = {name: getattr(self, name) for name in (field.name for field in fields(self))}
        defaults = {field.name: field.default for field in fields(self) if field.name != "task"}
        changed = (f"{name}={own[name]!r}" for name in own if own[name] != defaults.get(name))
        return f"TrainingConfig({', '.join(changed)})"

    def vocabulary(self) -> SymbolVocabulary:
        """The symbols of a toy task."""
        return SymbolVocabulary(self.symbols)

    def model_config(self, source: int | None = None, target: int | None = None) -> ModelConfig:
        """The sizes of the model, for vocabularies of `source` and `target` entries; without
        these, for the most entries that the settings allow.

        `max_length` is twice the longest training sequence, so that longer ones can be tried.
        """
        entries = self.pieces if self.of_sentences else len(self.vocabulary())
        return ModelConfig(
            source_vocabulary=source or entries,
            target_vocabulary=target or entries,
            d_model=self.d_model,
            heads=self.heads,
            encoder_layers=self.encoder_layers,
            decoder_layers=self.decoder_layers,
            d_ff=self.d_ff,
            dropout=self.dropout,
            norm=self.norm,
            max_length=2 * self.longest + 2,
            tied_embeddings=bool(self.texts) or (bool(self.pairs) and self.joint),
            causal=self.causal,
        )

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "TrainingConfig":
        """The config from the file of a run. Raises `ConfigError` on an unknown setting.

        A run that is older than the setting for small alphabets resumes without them.
        """
        names = [field.name for field in fields(cls)]
        for name in data:
            if name not in names:
                choices = ", ".join(names)
                raise ConfigError("bad_choice", name="setting", got=name, choices=choices)
        lists: dict[str, Any] = {
            name: tuple(data[name]) for name in ("symbols", "columns") if name in data
        }
        texts = [data[name] for name in _TEXTS if name in data]
        for text in (*texts, *(entry for name in lists for entry in lists[name])):
            if not isinstance(text, str):
                raise ConfigError("bad_choice", name="setting", got=text, choices="text")
        return cls(**_OLD_RUNS | data | lists)


def choices_of(name: str) -> tuple[str, ...]:
    """The allowed values of a setting with a short list of them; empty for other settings."""
    return tuple(TASK_NAMES) if name == "task" else _CHOICES.get(name, ())


def refuse_late(config: TrainingConfig) -> None:
    """Refuse a new training whose rate would not reach its peak, or which would be evaluated only
    at its end. Runs that were recorded with such settings can still be read and resumed.

    Raises `ConfigError`.
    """
    for name in LIMITED_BY_STEPS:
        if (got := getattr(config, name)) > config.steps:
            raise ConfigError("later_than_steps", name=name, got=got, steps=config.steps)


def refuse_unused(given: Mapping[str, Any]) -> None:
    """Refuse given settings, by name, that a training with the others ignores.

    Their default values are allowed: the command in a checkpoint spells them out.

    Raises `ConfigError`.
    """
    pairs, texts = bool(given.get("pairs")), bool(given.get("texts"))
    defaults = asdict(TrainingConfig()) | {"task": CONTINUE if texts else TRANSLATE}
    changed = {name for name, value in given.items() if value != defaults[name]}
    key = "not_for_pairs" if pairs else "not_for_texts" if texts else "not_for_task"
    others = _TOY_ONLY if pairs or texts else _SENTENCES_ONLY
    for name in (*others, *(() if pairs else _PAIRS_ONLY)):
        if name in changed:
            task = given.get("task", TrainingConfig().task)
            raise ConfigError(key, name=name.replace("_", "-"), task=task)
    if given.get("start") and "pieces" in changed:
        raise ConfigError("not_with_start", name="pieces")
    if "batch" in changed and given.get("batch_tokens"):
        raise ConfigError("two_batches")


def recipe(task: str) -> TrainingConfig:
    """The settings of the shipped model of a toy task."""
    steps = _RECIPE_STEPS.get(task, _RECIPE_STEPS["reverse"])
    if task in CONTINUED_TASKS:
        return TrainingConfig(
            task=task, longest=24, d_model=64, d_ff=256, encoder_layers=0, steps=steps, rate=3e-3,
        )  # fmt: skip
    return TrainingConfig(task=task, steps=steps, dropout=0.0)


def translation(pairs: str) -> TrainingConfig:
    """The default settings for a file of pairs."""
    return TrainingConfig(
        pairs=pairs, longest=128, d_model=256, heads=8, encoder_layers=3, decoder_layers=3,
        d_ff=1024, swapped=0.5, copied=0.02, unpunctuated=0.05, subword_alpha=0.4, steps=24_000,
        batch_tokens=5000, rate=1e-3, warmup=1000, label_smoothing=0.1, average=1000,
        evaluate_every=500, precision="bfloat16",
    )  # fmt: skip


def language_model(texts: str) -> TrainingConfig:
    """The default settings for a file of texts."""
    return TrainingConfig(
        texts=texts, columns=("1",), longest=64, pieces=4000, d_model=256, heads=8,
        encoder_layers=0, decoder_layers=4, d_ff=1024, steps=8000, batch_tokens=3000, warmup=200,
        average=500, evaluate_every=200, precision="bfloat16",
    )  # fmt: skip


def small_translation(pairs: str, columns: tuple[str, ...], *, on_gpu: bool) -> TrainingConfig:
    """Settings for a class and its own file: first correct words after minutes on a CPU, most
    sentences correct after minutes on a GPU."""
    if on_gpu:
        return replace(
            translation(pairs), columns=columns, steps=4000, warmup=400, evaluate_every=100,
            device="cuda", until=_ALL_RIGHT,
        )  # fmt: skip
    return TrainingConfig(
        pairs=pairs, columns=columns, longest=32, pieces=2000, d_model=128, heads=4, d_ff=512,
        steps=1500, batch=32, rate=2e-3, warmup=150, label_smoothing=0.1, evaluate_every=50,
        device="cpu", until=_ALL_RIGHT,
    )  # fmt: skip


def small_language_model(texts: str, columns: tuple[str, ...], *, on_gpu: bool) -> TrainingConfig:
    """Settings for a class and its own file of texts: first phrases after minutes."""
    device = "cuda" if on_gpu else "cpu"
    return replace(
        language_model(texts), columns=columns, pieces=2000, d_model=128, heads=4,
        decoder_layers=2, d_ff=512, steps=1500, evaluate_every=50, average=0, device=device,
    )  # fmt: skip


def preset(config: TrainingConfig) -> TrainingConfig:
    """The settings that the app suggests for the task, the pairs or the texts of `config`, on its
    device."""
    on_gpu = config.device.startswith("cuda")
    if config.texts:
        return small_language_model(config.texts, config.columns, on_gpu=on_gpu)
    if config.pairs:
        return small_translation(config.pairs, config.columns, on_gpu=on_gpu)
    return quick_demo(config.task, on_gpu=on_gpu)


def quick_demo(task: str, *, on_gpu: bool, causal: bool = True) -> TrainingConfig:
    """Settings for a live demonstration: seconds on a GPU, half a minute on a CPU."""
    if task in CONTINUED_TASKS:
        return replace(
            recipe(task), causal=causal, dropout=0.0, warmup=50, steps=600, until=0.99,
            evaluate_every=25, device="cuda" if on_gpu else "cpu",
        )  # fmt: skip
    if on_gpu:
        return TrainingConfig(
            task=task, causal=causal, batch=256, steps=450, dropout=0.0, until=0.99,
            evaluate_every=50, precision="bfloat16", device="cuda",
        )  # fmt: skip
    return TrainingConfig(
        task=task, causal=causal, longest=10, d_model=64, d_ff=256, dropout=0.0, rate=6e-3,
        warmup=40, steps=_DEMO_STEPS[task], until=0.99, evaluate_every=25, device="cpu",
    )  # fmt: skip
