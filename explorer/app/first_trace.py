"""The trace that a visitor sees first, stored beside the checkpoint of its model: it is on screen
before torch is imported.

A stored trace comes without the checks that only the model can measure. Two of its facts are the
checkpoint that made it and the head to open with.
"""

import hashlib
import sys
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path

from explorer.app.state.visit import initial_request
from explorer.core.errors import ExplorerError
from explorer.core.files import log_skipped
from explorer.core.look import Request
from explorer.core.sites import Head
from explorer.core.trace import Trace
from explorer.heads.initial_head import InitialChoice
from explorer.model.catalog import CatalogMember, ShippedModel


def shown_first(member: CatalogMember, request: Request) -> Trace | None:
    """The stored trace of `request` as long as torch is not imported; None later."""
    return None if _can_load() else stored(member, request)


def stored(member: CatalogMember, request: Request) -> Trace | None:
    """The stored trace of `request`. None for all but the initial one of a model that ships, and if
    another checkpoint made the trace."""
    path = member.first_trace if member.can_trace else None
    if path is None or request != initial_request(member):
        return None
    trace = _read(member.stamp, path, path.parents[1] / f"{path.stem}.safetensors")
    return trace if trace is not None and trace.facts.get("text") == request.text else None


def choice_of(trace: Trace) -> InitialChoice:
    """The head with which a stored trace opens."""
    choice = trace.facts["initial"]
    return InitialChoice(Head(*choice["head"]), choice["why"], choice["value"])


def storable(member: ShippedModel, trace: Trace, choice: InitialChoice) -> Trace:
    """What is stored of the initial trace of a model, which opens with `choice`."""
    initial = {**asdict(choice), "head": list(choice.head)}
    facts = {"checkpoint": _digest(member.path), "initial": initial}
    return replace(trace, measured={}, facts={**trace.facts, **facts}, digest="")


@lru_cache(maxsize=1)
def _read(_stamp: str, path: Path, checkpoint: Path) -> Trace | None:
    """The stored trace of a checkpoint. _stamp: of that; a changed one is read again."""
    if not path.is_file():
        return None
    try:
        trace = Trace.load(path)
        fits = trace.facts.get("checkpoint") == _digest(checkpoint)
    except (ExplorerError, OSError) as error:
        log_skipped(path, str(error))
        return None
    return trace if fits else None


def _digest(checkpoint: Path) -> str:
    return hashlib.sha256(checkpoint.read_bytes()).hexdigest()


def _can_load() -> bool:
    """Whether torch, and what loads models, is imported."""
    return hasattr(sys.modules.get("explorer.model.explorable"), "load")
