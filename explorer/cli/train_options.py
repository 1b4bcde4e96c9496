"""The options of `train`, and the settings that they choose."""

import argparse
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.cli.common import comma_list, text_columns_of
from explorer.core.errors import ConfigError, FileError
from explorer.core.i18n import say

if TYPE_CHECKING:
    from explorer.training.config import TrainingConfig

SETTING_GROUPS = {
    "task": ("task", "longest", "symbols", "small_alphabets", "causal", "seed"),
    "pairs of sentences, or texts": (
        *("pairs", "texts", "columns", "excluded", "further_pairs", "pieces", "joint", "joined"),
        *("swapped", "copied", "patterned", "unpunctuated", "subword_alpha", "batch_tokens"),
    ),
    "model": (
        *("start", "d_model", "heads", "encoder_layers", "decoder_layers", "d_ff"),
        *("dropout", "norm"),
    ),
    "optimisation": (
        *("steps", "batch", "accumulate", "rate", "schedule", "warmup", "beta1", "beta2"),
        *("label_smoothing", "clip", "average"),
    ),
    "evaluation": ("evaluate_every", "patience", "until"),
    "machine": ("device", "processes", "precision"),
}
"""Settings by their heading in the help."""

FILES = ("pairs", "texts", "excluded", "further_pairs", "start")
"""The settings that name a file."""

_METAVARS = {
    **dict.fromkeys(FILES, "FILE"),
    **{"columns": "A,B", "symbols": "SYMBOLS", "device": "DEVICE"},
}


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the run, and one for each setting."""
    _add_run_options(command.add_argument_group("run"))
    for heading, names in SETTING_GROUPS.items():
        group = command.add_argument_group(heading)
        if heading == "task":
            group.add_argument(
                "--quick",
                action="store_true",
                help="the settings of the app's Quick demo, or with --pairs those that Your pairs "
                "suggests, with --texts small ones; others that are given hold",
            )
        for name in names:
            _add_setting(group, name)
        if heading == "machine":
            group.add_argument("--background", action="store_true", help="run at a low priority")


def _add_run_options(group: Any) -> None:
    """Add the options for the files to write."""
    group.add_argument(
        "--run", type=Path, metavar="FOLDER", help="a folder that records the training, runs/NAME"
    )
    group.add_argument(
        "--resume",
        action="store_true",
        help="go on with the run in that folder, from its last saved step and with its settings",
    )
    group.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="the file to write, evaluated on held-out data (default: TASK.safetensors, or with "
        "--run none); with --patience of the best moment",
    )
    group.add_argument("--half", action="store_true", help="write 16-bit weights: half the size")
    group.add_argument(
        "--credit", metavar="TEXT", help="whose data it was trained on, a fact in the file"
    )


def _add_setting(group: Any, name: str) -> None:
    """Add the option of one setting, with its choices or the kind of its value, and its default."""
    from explorer.training.config import choices_of

    default = getattr(_defaults(), name)
    listed = isinstance(default, tuple)
    if isinstance(default, bool):
        kind: dict[str, Any] = {"action": argparse.BooleanOptionalAction}
    else:
        metavar = _METAVARS.get(name, "N" if isinstance(default, int) else "X")
        if choices := choices_of(name):  # the config refuses others in one sentence
            metavar = f"{{{','.join(choices)}}}"
        kind = {"type": comma_list if listed else type(default), "metavar": metavar}
    about = f"{say(f'settings.{name}')} (default: {_default_text(name)})".replace("%", "%%")
    group.add_argument(f"--{name.replace('_', '-')}", default=None, help=about, **kind)


def _defaults(task: str = "", pairs: str = "", texts: str = "") -> "TrainingConfig":
    """The settings of a task, or of a file of pairs or texts, that are not given."""
    from explorer.training.config import TrainingConfig, language_model, recipe, translation

    if pairs:
        return translation(pairs)
    return language_model(texts) if texts else recipe(task or TrainingConfig().task)


def _default_text(name: str) -> str:
    """The default of a setting, and other defaults of the tasks and of pairs."""
    from explorer.training.config import choices_of

    default = getattr(_defaults(), name)
    shown = [_shown(default)]
    if name not in ("task", "pairs", "texts"):
        others = {f"--task {task}": _defaults(task) for task in choices_of("task")}
        others |= {"--pairs": _defaults(pairs="FILE"), "--texts": _defaults(texts="FILE")}
        shown += [
            f"with {given} {_shown(value)}"
            for given, config in others.items()
            if (value := getattr(config, name)) != default
        ]
    return "; ".join(shown)


def chosen_settings(options: argparse.Namespace) -> "TrainingConfig":
    """The settings on the command line. The others are those of the initial checkpoint, or the
    defaults of the task or of `--quick`, as far as there are so many steps."""
    from explorer.data.column_guess import column_names
    from explorer.training.config import LIMITED_BY_STEPS, preset, refuse_late, refuse_unused
    from explorer.training.device import choose_device
    from explorer.training.start_checkpoint import settings_from

    given = _given_settings(options)
    refuse_unused(given)
    if options.pairs and not options.columns:
        given["columns"] = column_names(*text_columns_of(options.pairs))
    if "batch" in given:
        given.setdefault("batch_tokens", 0)
    if options.start:
        given = settings_from(Path(given["start"])) | given
    defaults = _defaults(options.task, options.pairs, options.texts)
    if options.quick:
        device = choose_device(options.device or defaults.device)
        defaults = preset(replace(defaults, device=device.type))
    steps = given.get("steps", defaults.steps)
    if steps > 0:  # the config refuses others
        given = {n: min(getattr(defaults, n), steps) for n in LIMITED_BY_STEPS} | given
    config = replace(defaults, **given)
    refuse_late(config)
    return config


def _given_settings(options: argparse.Namespace) -> dict[str, Any]:
    """The settings on the command line. The initial checkpoint is named by its path, even if it is
    given by the name of a shipped model."""
    from explorer.model.catalog import named_checkpoint
    from explorer.training.config import TrainingConfig

    names = [field.name for field in fields(TrainingConfig)]
    given = {name: value for name in names if (value := getattr(options, name)) is not None}
    if options.start:
        given["start"] = str(named_checkpoint(options.start))
    return given


def refuse_run_options(options: argparse.Namespace) -> None:
    """Raise `ConfigError` on options of the group "run" that would have no effect, and `FileError`
    on a file to write without the ending of a checkpoint."""
    if options.resume and options.run is None:
        raise ConfigError("only_with", name="resume", needed="--run")
    if options.run is not None and options.out is None:
        for name in ("half", "credit"):
            if getattr(options, name):
                raise ConfigError("only_with", name=name, needed="--out")
    if options.out is not None and options.out.suffix != ".safetensors":
        raise FileError("bad_checkpoint_suffix", name=options.out.name)


def refuse_other_settings(options: argparse.Namespace, config: "TrainingConfig") -> None:
    """Raise `ConfigError` on a setting on the command line that differs from the run to resume. The
    same command with --resume is the usual way to resume."""
    from explorer.training.device import choose_device

    for name, value in _given_settings(options).items():
        own, got = getattr(config, name), value
        if name in FILES:
            got = str(Path(value).resolve())
        elif name == "device":
            got = str(choose_device(value))
        if own != got:
            facts = {"expected": _shown(own), "got": _shown(value), "run": options.run.name}
            raise ConfigError("other_than_resumed", name=name.replace("_", "-"), **facts)


def _shown(value: object) -> str:
    """A setting, formatted for the help and for errors."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(value) if isinstance(value, tuple) else str(value) or "none"
