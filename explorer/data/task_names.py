"""The names of the toy tasks, known without importing their rules and torch."""

import pkgutil
from collections.abc import Mapping
from typing import Any

from explorer.core.errors import TaskError
from explorer.core.i18n import say, table
from explorer.data import continued_tasks, toy_tasks

CONTINUED_TASKS = tuple(
    sorted(module.name for module in pkgutil.iter_modules(continued_tasks.__path__))
)
"""Those of a decoder alone."""

RULE_TASKS = tuple(sorted(module.name for module in pkgutil.iter_modules(toy_tasks.__path__)))
"""Those with a rule from a source to its answer."""

TASK_NAMES = tuple(sorted((*CONTINUED_TASKS, *RULE_TASKS)))
"""In alphabetical order."""

MOST_SYMBOLS = 100
"""Distinct symbols of a toy task."""


def refuse_unknown_task(name: object) -> None:
    """Raise `TaskError` when there is no toy task called `name`."""
    if not isinstance(name, str) or name not in TASK_NAMES:
        raise TaskError("bad_choice", name="task", got=name, choices=", ".join(TASK_NAMES))


def task_of(facts: Mapping[str, Any]) -> str | None:
    """The toy task that a model with these facts was trained on; None for any other task."""
    name = facts.get("task")
    return name if name in TASK_NAMES else None


def task_label(name: str, language: str) -> str:
    """Name of a task on a page; the given name if the string table has no entry for it."""
    key = f"task_{name}"
    return say(f"train.{key}", language) if key in table()["train"] else name
