"""The page of the static site with a training: its curves, and probe traces under one slider."""

import json

from explorer.components.exported_page import back_link, checked_language, data_element, page
from explorer.components.player.payload import player_payload
from explorer.components.training_replay.own_choices import with_own_choices
from explorer.components.training_replay.payload import replay_payload
from explorer.core.i18n import say
from explorer.jobs.training_run import Run

_STYLES = """
body { --available-height: calc(100dvh - var(--back-height, 0px) - 4px); }
.training-replay .live { display: none; }
"""
"""The link back is above the replay. A recorded run does not continue, so `.live` is hidden."""


def training_page(key: str, run: Run, static_site: str, language: str = "en") -> str:
    """A page that replays `run`, from disk and without a network.

    key: run root and name, "recorded/reverse".
    static_site: the folder of the static site, relative to the page.

    Raises `TraceError` on an unknown language or a damaged probe trace.
    """
    language = checked_language(language)
    payload = replay_payload(key, run, language=language)
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
        component="training_replay",
        more_styles=_STYLES,
        body=f'{back_link(static_site, language, title)}<main id="player"></main>',
        data=[data_element('id="payload"', payload, compress=True), *probes],
        run="exported_replay",
        static_site=static_site,
    )
