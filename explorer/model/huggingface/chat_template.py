"""Messages → text, by the chat template of a model.

A template is a program in the files of a model. The library renders it in a sandbox without files
and imports, but it may loop for ever or make a text of any size. So it runs in a child process,
`python -m explorer.model.huggingface.chat_template`, with limits and without torch.
"""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from explorer.core import folders
from explorer.core.errors import ConfigError
from explorer.core.files import one_line
from explorer.core.memory import limit_memory
from explorer.core.vocabulary import LONGEST_TEXT, shorten

SECONDS = 2
"""Limit of processor time for one text; `_ELAPSED` limits elapsed time, for a busy machine."""

MEMORY = 512 * 2**20
"""Bytes that the child may take in addition to its imports."""

LONGEST_TEMPLATE = 2**20
"""Characters; templates of models with tools have up to 20,000."""

_ELAPSED = 60.0
_LONGEST_REASON = 300  # characters

Message = Mapping[str, str]
"""role: "user", "assistant", "system" or another role of the template; content: its text."""


def chat_text(tokenizer: Any, messages: Sequence[Message]) -> str:
    """The text of `messages`, followed by the beginning of the model's answer.

    Raises `ConfigError` without a template, if `messages` are not messages, and if the template
    refuses them, takes too much time or memory, or makes too long a text.
    """
    template = template_of(tokenizer)
    if template is None:
        raise ConfigError("no_chat_template")
    asked = json.dumps([template, _checked(messages), _plain(tokenizer.special_tokens_map)])
    key, said = _answered(asked)
    if key:
        raise ConfigError(key, reason=said, limit=LONGEST_TEXT, seconds=SECONDS)
    return said


def template_of(tokenizer: Any) -> str | None:
    """The template of a tokenizer, the default one of several, or None without any."""
    listed = getattr(tokenizer, "chat_template", None)
    found = listed.get("default") if isinstance(listed, Mapping) else listed
    return found if isinstance(found, str) and 0 < len(found) <= LONGEST_TEMPLATE else None


def _checked(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Copies of the messages. Raises `ConfigError` unless they are a list of texts with roles."""
    if isinstance(messages, str | Mapping) or not isinstance(messages, Sequence) or not messages:
        raise ConfigError("bad_messages", got=shorten(repr(messages)))
    for one in messages:
        texts = one.values() if isinstance(one, Mapping) else (None,)
        if not all(isinstance(text, str) for text in texts) or not {"role", "content"} <= set(one):
            raise ConfigError("bad_messages", got=shorten(repr(one)))
    if sum(1 + sum(map(len, one.values())) for one in messages) > LONGEST_TEXT:
        raise ConfigError("long_chat", limit=LONGEST_TEXT)
    return [dict(one) for one in messages]


def _plain(special: Mapping[str, Any]) -> dict[str, Any]:
    """The special tokens by name, as the library gives them to a template."""
    return {
        name: [str(one) for one in own] if isinstance(own, list | tuple) else str(own)
        for name, own in special.items()
    }


@lru_cache(maxsize=64)
def _answered(asked: str) -> tuple[str, str]:
    """Result of `_answer` in a child process; an error key if a limit ended it."""
    command = [sys.executable, "-m", "explorer.model.huggingface.chat_template"]
    try:
        done = subprocess.run(
            command,
            input=asked.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=folders.IMPORT_ROOT,
            timeout=_ELAPSED,
            check=False,
        )
        key, said = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):  # ended by a limit
        return "harmful_template", ""
    return str(key), str(said)


def _answer(asked: str) -> tuple[str, str]:
    """(error key, reason), or ("", text) without an error."""
    from transformers.utils.chat_template_utils import render_jinja_template

    template, messages, special = json.loads(asked)
    _limit()
    try:
        found, _ = render_jinja_template(
            [messages], chat_template=template, add_generation_prompt=True, **special
        )
    except MemoryError:
        raise
    except Exception as error:
        return "template_refuses", one_line(str(error))[:_LONGEST_REASON] or type(error).__name__
    text = found[0]
    return ("", text) if len(text) <= LONGEST_TEXT else ("long_chat", "")


def _limit() -> None:
    """Limit the time and memory of this process from now on; on Windows only `_ELAPSED` limits
    it."""
    if sys.platform == "win32":
        return
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime) + SECONDS + 1
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[5])  # of data and stack
        limit_memory(pages * resource.getpagesize() + MEMORY)


if __name__ == "__main__":
    sys.modules["torch"] = None  # type: ignore[assignment]  # importing torch would double the time
    print(json.dumps(_answer(sys.stdin.read())))
