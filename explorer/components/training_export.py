"""The page of the static site with trainings: a recorded one, its curves and probe traces under one
slider, and those that a visitor starts in the browser."""

import json
from collections.abc import Mapping

from explorer.components.exported_page import back_link, checked_language, data_element, page
from explorer.components.player.payload import player_payload
from explorer.components.static_site_files import linked_trainer
from explorer.components.training_replay.own_choices import with_own_choices
from explorer.components.training_replay.payload import replay_payload
from explorer.core.i18n import say, section
from explorer.data.task_names import TASK_NAMES
from explorer.jobs.training_run import Run

_TRAIN = (
    *(f"task_{name}" for name in TASK_NAMES),
    *("label_task", "label_seed", "start", "stop"),
    *("state_starting", "state_running", "state_stopped", "state_done", "state_reached"),
    *("state_failed", "fact_step", "fact_exact", "fact_speed", "fact_left", "fact_took"),
    *("fact_seed", "seconds"),
)
"""Sentences of the section "train" that a training in the browser says, too."""


def training_page(key: str, run: Run, static_site: str, language: str = "en") -> str:
    """A page that replays `run`, from disk and without a network.

    key: run root and name, "recorded/reverse".
    static_site: the folder of the static site, relative to the page.

    Raises `TraceError` on an unknown language or a damaged probe trace.
    """
    language = checked_language(language)
    payload = replay_payload(
        key, run, language=language, more={"trainer": trainer_sentences(language)}
    )
    addresses = [(moment["step"], moment["probe"]) for moment in json.loads(payload)["moments"]]
    probes = [
        data_element(
            f'data-probe="{address}"',
            player_payload(with_own_choices(run.probe(step)), language=None),
            compress=True,
        )
        for step, address in addresses
        if address
    ]
    title = say("live.training_title", language, name=run.name)
    return page(
        language,
        title,
        component="live_training",
        body=f'{back_link(static_site, language, title)}<main id="player"></main>',
        data=[
            linked_trainer(static_site),
            data_element('id="payload"', payload, compress=True),
            *probes,
        ],
        run="live_training",
        static_site=static_site,
        trains=True,
    )


def trainer_sentences(language: str) -> Mapping[str, str]:
    """The sentences of the bar with Start, and of what the trainer tells."""
    train = section("train", language)
    causal_off = say("run_settings.causal_off", language)
    own = section("browser_training", language)
    return {name: train[name] for name in _TRAIN} | {"causal_off": causal_off} | dict(own)
