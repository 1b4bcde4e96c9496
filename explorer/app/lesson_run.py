"""The moment of a training that a card of a lesson shows, on the page Train."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from explorer.app.refused_parts import refused_parts
from explorer.core.errors import LessonError
from explorer.core.lesson import Card
from explorer.core.lesson_answers import Place
from explorer.core.run_answers import RunMoment
from explorer.jobs import training_launcher

_NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
_OF_PROBE = ("site", "layer", "head", "step")


@dataclass(frozen=True, slots=True)
class RunLook:
    """What a card shows of a training.

    run: root and name, "recorded/reverse".
    moment: its step of the training.
    step: of the probe, from 1; None = no row is marked.
    """

    run: str
    moment: int
    site: str
    layer: int
    head: int
    step: int | None

    @property
    def place(self) -> Place:
        """The head and the row of the probe."""
        return Place(self.site, self.layer, self.head, self.step)


def run_look(card: Card, language: str) -> tuple[RunLook, RunMoment]:
    """What a card shows, and the moment of its run. Raises `ExplorerError`."""
    view = card.view
    root, _, name = view["run"].partition("/")
    run = training_launcher.find(root, name)
    lines = {str(line["step"]): line for line in run.moments()}
    if view["moment"] not in lines:
        raise _bad_link(["moment"], language)
    last = max(lines, key=int)
    moment = RunMoment(lines[view["moment"]], run.probe(int(view["moment"])), run.probe(int(last)))
    refused = [name for name in _OF_PROBE if not _is_of_probe(name, view, moment)]
    if refused:
        raise _bad_link(refused, language)
    step = int(view["step"]) if "step" in view else None
    place = view["site"], int(view["layer"]), int(view["head"]), step
    return RunLook(view["run"], int(view["moment"]), *place), moment


def _is_of_probe(name: str, view: Mapping[str, str], moment: RunMoment) -> bool:
    """Whether the probe has what a parameter names."""
    value, site = view.get(name, ""), view.get("site", "")
    if site not in moment.probe.sites:
        return name != "site"
    if name == "site":
        return True
    layers, heads, rows, _ = moment.probe.attention(site).shape
    if name == "step":
        return name not in view or (_is_number(value) and 1 <= int(value) <= rows)
    return _is_number(value) and int(value) < (layers if name == "layer" else heads)


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _bad_link(names: list[str], language: str) -> LessonError:
    return LessonError("bad_link", parts=refused_parts(names, language))
