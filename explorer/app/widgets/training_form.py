"""The form of all training settings, each with one line of help, and the estimated cost.

A setting is shown only where it has an effect: symbols for a toy task, subword pieces for a
translation.
"""

from dataclasses import asdict
from functools import partial
from typing import Any, Literal, get_args, get_origin, get_type_hints

import streamlit as st

from explorer.app.state import train as train_state
from explorer.app.widgets.messages import literal, show_error
from explorer.components.labels import estimate_text
from explorer.core.errors import ConfigError, ExplorerError
from explorer.core.i18n import say
from explorer.data.task_names import TASK_NAMES
from explorer.jobs import training_launcher
from explorer.jobs.training_run import finished_runs
from explorer.training.config import TrainingConfig, refuse_late
from explorer.training.cost_estimate import PairsSize, estimate

GROUPS = {
    "task": (
        *("task", "pairs", "texts", "columns", "longest", "symbols", "small_alphabets"),
        *("pieces", "joint", "joined"),
        *("excluded", "further_pairs", "swapped", "copied", "patterned", "unpunctuated"),
        "subword_alpha",
        *("seed", "causal"),
    ),
    "model": (
        *("start", "encoder_layers", "decoder_layers", "heads", "d_model", "d_ff"),
        *("norm", "dropout"),
    ),
    "training": (
        "steps",
        "until",
        "patience",
        "batch",
        "batch_tokens",
        "rate",
        "schedule",
        "warmup",
    ),
    "rest": (
        "evaluate_every",
        "average",
        "label_smoothing",
        "beta1",
        "beta2",
        "clip",
        "accumulate",
        "precision",
        "device",
        "processes",
    ),
}
_TASK_ONLY = {"task", "symbols", "small_alphabets"}
_TRANSLATION_ONLY = {
    *("pieces", "joint", "joined", "swapped", "copied", "patterned", "unpunctuated"),
    *("subword_alpha", "batch_tokens"),
}
_NOT_SHOWN = {"pairs", "texts", "columns", "excluded", "further_pairs", "start"}
"""Files: the corpus form asks for the file of pairs and its options, the command line for the
others and for texts."""
_LABELS = {
    (train_state.CORPUS_FORM, "until"): "until_bleu",
    (train_state.CORPUS_FORM, "longest"): "longest_pieces",
}
_NUMBER_FORMATS = {
    "rate": "%.2g",
    "beta1": "%.4g",
    "beta2": "%.5g",
    "dropout": "%.2f",
    "label_smoothing": "%.2f",
    "until": "%.2f",
    "small_alphabets": "%.2f",
    "joined": "%.2f",
    "swapped": "%.2f",
    "copied": "%.2f",
    "patterned": "%.2f",
    "unpunctuated": "%.2f",
    "subword_alpha": "%.2f",
}
_INCREMENTS = {
    **{"rate": 5e-4, "dropout": 0.05, "label_smoothing": 0.05, "until": 0.01, "clip": 0.1},
    **{"beta1": 0.01, "beta2": 0.01},
    "small_alphabets": 0.05,
    **{"joined": 0.05, "swapped": 0.05, "copied": 0.01, "patterned": 0.01, "unpunctuated": 0.01},
    "subword_alpha": 0.05,
}


def settings_form(demo: TrainingConfig, language: str) -> TrainingConfig | None:
    """Draw the form, filled with `demo` and earlier changes. Returns the config when the visitor
    starts it."""
    chosen = choose_settings(demo, train_state.SETTINGS_FORM, language)
    return offer_start(chosen, train_state.SETTINGS_FORM, True, language)


def choose_settings(demo: TrainingConfig, form: str, language: str) -> dict[str, Any]:
    """Draw the fields of a form, filled with `demo` and earlier changes. Returns all settings."""
    draft = dict(train_state.draft(form))
    chosen = asdict(demo) | draft
    columns = st.columns(len(GROUPS))
    for column, (group, names) in zip(columns, GROUPS.items(), strict=True):
        with column:
            st.markdown(f"**{say(f'train.group_{group}', language)}**")
            for name in names:
                if _has_effect(name, demo):
                    draft[name] = chosen[name] = _field(name, chosen[name], form, language)
                    train_state.save_draft(form, draft)  # a click may end this run at any field
    return chosen


def offer_start(
    chosen: dict[str, Any],
    form: str,
    has_data: bool,
    language: str,
    size: PairsSize | None = None,
) -> TrainingConfig | None:
    """Draw the estimated cost, or the error in these settings, and the button that starts them.

    has_data: whether there are data to train on; otherwise the button is disabled.
    size: of the file of pairs.
    Returns the config when the button was clicked.
    """
    with st.container(key="form-start"):  # it stays in view while the fields scroll
        config = _checked(chosen, form, language, size)
        with st.container(horizontal=True):
            start = st.button(
                say("train.start_these", language),
                key="start-these",
                type="primary",
                icon=":material/play_arrow:",
                disabled=config is None or not has_data,
            )
            st.button(
                say(f"train.defaults_{form}", language),
                key="defaults",
                on_click=partial(train_state.reset_draft, form),
            )
    return config if start else None


def _checked(
    chosen: dict[str, Any], form: str, language: str, size: PairsSize | None
) -> TrainingConfig | None:
    """The config of these settings, with its cost drawn below. None, with the error drawn, if they
    are refused."""
    config = None
    try:
        checked = TrainingConfig(**chosen)
        refuse_late(checked)
        config = checked
        cost = estimate(config, finished_runs(training_launcher.run_root("runs")), size)
        st.caption(literal(estimate_text(cost, config.device, language)))
    except ConfigError as error:
        show_error(_with_label(error, form, language), language)
    except ExplorerError as error:
        show_error(error, language)
    return config


def _with_label(error: ConfigError, form: str, language: str) -> ConfigError:
    """The error with the field's label on screen instead of the name of its setting."""
    name = str(error.facts.get("name", ""))
    if not any(name in names for names in GROUPS.values()):
        return error
    return ConfigError(error.key, **error.facts | {"name": _label(name, form, language)})


def _label(name: str, form: str, language: str) -> str:
    return say(f"train.label_{_LABELS.get((form, name), name)}", language)


def _has_effect(name: str, demo: TrainingConfig) -> bool:
    if name == "processes" and len(available_devices()) < 3:  # the CPU and at most one GPU
        return False
    return name not in _NOT_SHOWN | (_TASK_ONLY if demo.pairs else _TRANSLATION_ONLY)


def _field(name: str, value: Any, form: str, language: str) -> Any:
    """The widget of one setting; returns its value."""
    label = _label(name, form, language)
    about = f"{say(f'settings.{name}', language)} (`--{name.replace('_', '-')}`)"
    key = f"{form}-{name}-{train_state.times_reset()}"
    choices = _choices(name, value)
    if choices:
        return st.selectbox(label, choices, index=choices.index(value), key=key, help=about)
    if isinstance(value, bool):
        return st.checkbox(label, value, key=key, help=about)
    if name == "symbols":
        text = st.text_input(label, " ".join(value), key=key, help=about, autocomplete="off")
        return tuple(text.split())
    if isinstance(value, int):
        return st.number_input(label, value=value, step=1, key=key, help=about)
    return st.number_input(
        label,
        value=float(value),
        step=_INCREMENTS[name],
        format=_NUMBER_FORMATS.get(name, "%.3g"),
        key=key,
        help=about,
    )


def _choices(name: str, value: str) -> list[str]:
    """The choices of a setting from a short list; empty for other settings."""
    if name == "task":
        return list(TASK_NAMES)
    if name == "device":
        return list(dict.fromkeys((*available_devices(), value)))
    hint = get_type_hints(TrainingConfig)[name]
    return list(get_args(hint)) if get_origin(hint) is Literal else []


def available_devices() -> tuple[str, ...]:
    """The devices of this machine, the fastest first."""
    import torch

    more = range(1, torch.cuda.device_count())
    first = ("cuda",) if torch.cuda.is_available() else ()
    return (*first, *(f"cuda:{number}" for number in more), "cpu")
