"""The settings of a run as text: differences from the suggested settings and from other runs."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from explorer.core.i18n import say
from explorer.jobs.training_run import Run
from explorer.training.config import TrainingConfig, preset

_NO_EFFECT = {"pairs", "texts", "columns", "excluded", "device", "processes", "evaluate_every"}
"""Settings that name files and devices, or change nothing in the model."""

_SWITCHES = ("causal", "joint")
_SENTENCES_ONLY = {"pieces", "joined", "subword_alpha", "batch_tokens"}
_PAIRS_ONLY = {
    *("joint", "swapped", "copied", "patterned", "unpunctuated"),
    *_SENTENCES_ONLY,
}
_TASK_ONLY = {"symbols", "small_alphabets"}
_LONGEST_VALUE = 40  # characters


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The settings of a run as text.

    badges: facts to know before reading its curves.
    demo: differences from the suggested settings of such a run; "" = none.
    """

    badges: list[str]
    demo: str


def run_settings(run: Run, language: str) -> RunSettings:
    """The settings of `run`."""
    config = run.config
    lead = "suggested" if config.of_sentences else "demo"
    differs = " · ".join(_differences(config, preset(config), language))
    return RunSettings(
        badges=[] if config.causal else [say("run_settings.causal_off", language)],
        demo=say(f"run_settings.{lead}", language, settings=differs) if differs else "",
    )


def differing_settings(configs: Sequence[TrainingConfig], language: str) -> list[str]:
    """One text per config with the settings in which the configs differ. The causal mask comes
    first, then the settings with the most distinct values."""
    found = {name for config in configs for name in _differing(config, configs[0], seed=True)}
    names = [field.name for field in fields(TrainingConfig) if field.name in found]
    distinct = {name: len({getattr(config, name) for config in configs}) for name in names}
    names.sort(key=lambda name: (name != "causal", -distinct[name]))
    return [" · ".join(_setting(name, config, language) for name in names) for config in configs]


def _differences(config: TrainingConfig, other: TrainingConfig, language: str) -> list[str]:
    return [_setting(name, config, language) for name in _differing(config, other)]


def _differing(config: TrainingConfig, other: TrainingConfig, *, seed: bool = False) -> list[str]:
    """The names of the settings that differ and have an effect, the causal mask first.

    seed: whether the seed is one of them; each demo has its own.
    """
    unused = _NO_EFFECT | (_TASK_ONLY if config.of_sentences else _PAIRS_ONLY)
    if config.texts:
        unused |= _PAIRS_ONLY - _SENTENCES_ONLY
    if not seed:
        unused = unused | {"seed"}
    names = [field.name for field in fields(TrainingConfig) if field.name not in unused]
    names.sort(key=lambda name: name != "causal")
    return [name for name in names if getattr(config, name) != getattr(other, name)]


def _setting(name: str, config: TrainingConfig, language: str) -> str:
    """A setting and its value: "rate .003"."""
    value = getattr(config, name)
    if name == "until" and value == 1:
        return say("run_settings.until_last_step", language)
    if name in _SWITCHES:
        return say(f"run_settings.{name}_{'on' if value else 'off'}", language)
    return say(f"run_settings.{name}", language, value=_value(name, value))


def _value(name: str, value: object) -> str:
    if name == "until" and isinstance(value, int | float):
        return f"{100 * value:g} %"
    if name in ("start", "further_pairs"):
        return Path(str(value)).name
    if isinstance(value, tuple):
        text = " ".join(map(str, value))
        return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 2]} …"
    if isinstance(value, float):
        return f"{value:g}".removeprefix("0") if 0 < value < 1 else f"{value:g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
