"""Try the tokenizer of a directory in a child process with limits, before this one touches it.

A file may ask for all memory or endless time while it is read, or end the process that does, since
most tokenizers are Rust. `python -m explorer.model.huggingface.tokenizer_check` is the child: it
imports the library once, without torch, and tries each directory named on its standard input in a
copy of itself, so that a check takes little more than the reading of the files.
"""

import atexit
import faulthandler
import json
import math
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from threading import Lock, Timer
from typing import Any

from explorer.core import folders
from explorer.core.memory import limit_memory
from explorer.model.huggingface.directory_files import tokenizer_among
from explorer.model.huggingface.text_growth import LARGEST_GROWTH, may_grow
from explorer.model.huggingface.tokens import is_usable

MEMORY = 280 * 2**20
"""Bytes that a tokenizer may take, and `MEMORY_EACH` for each byte of its files, up to
`MOST_MEMORY`. A SentencePiece model of 250,000 pieces, 4 MB, takes 400 MB while it is read, a
tokenizer.json of 256,000 entries, 43 MB, takes 600 MB."""

MEMORY_EACH = 100
MOST_MEMORY = 1536 * 2**20
SECONDS = 1.0
"""Of processor time, and `SECONDS_EACH` for each million bytes of its files. Of elapsed time it may
take `_ELAPSED` times as long, on a busy machine."""

SECONDS_EACH = 0.3

_ELAPSED = 30
_STARTED = 60.0
"""Elapsed seconds for each of processor time, and for the start of the child."""

_ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    **{"TOKENIZERS_PARALLELISM": "false", "HF_HUB_DISABLE_XET": "1"},
}
"""The environment of the child: the copy of a process may wait for threads that it has not."""

_LONGEST = 2000  # characters of a text, as many as the app takes
_RUNS = "aA1 .\n\té猫\u0627\U0001f600"
_TEXTS = ("The cat sleeps.", "猫在睡觉。", "\u0627\u0644\u0633 \U0001f600", "a b " * 500)
_MOST_RUNS = 64


class Verdict(StrEnum):
    """What came of the trial: it may be used, it cannot be read, it does harm."""

    SOUND = "sound"
    UNREADABLE = "unreadable"
    HARMFUL = "harmful"


class _Child:
    """The child process; started anew where it has ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._starting = Lock()

    def started(self) -> "subprocess.Popen[str]":
        with self._starting:
            if self._process is None or self._process.poll() is not None:
                self.end()
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "explorer.model.huggingface.tokenizer_check"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    cwd=folders.IMPORT_ROOT,
                    env=os.environ | _ONE_THREAD,
                    start_new_session=True,  # so that its copies end with it
                )
            return self._process

    def ask(self, path: Path) -> Verdict:
        try:
            process = self.started()
            assert process.stdin
            assert process.stdout
            memory, seconds = _limits(path)
            watch = Timer(_ELAPSED * seconds + _STARTED, self._kill)
            watch.start()
            request = json.dumps([str(path.absolute()), memory, seconds])
            print(request, file=process.stdin, flush=True)
            answer = process.stdout.readline().strip()
            watch.cancel()
        except OSError:
            return Verdict.HARMFUL
        return Verdict(answer) if answer else Verdict.HARMFUL

    def end(self) -> None:
        """Kill the child, whatever it is trying, and its copies."""
        if self._process is not None:
            self._kill()
            self._process.wait()
            for pipe in filter(None, (self._process.stdin, self._process.stdout)):
                with suppress(OSError):
                    pipe.close()

    def _kill(self) -> None:
        if self._process is None or self._process.poll() is not None:
            return  # its number may be another's by now
        with suppress(OSError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)


def _limits(path: Path) -> tuple[int, float]:
    """Bytes and seconds for the tokenizer in a directory."""
    names = tokenizer_among(file.name for file in path.iterdir())
    size = sum((path / name).stat().st_size for name in names)
    return min(MEMORY + MEMORY_EACH * size, MOST_MEMORY), SECONDS + SECONDS_EACH * size / 1e6


_CHILD = _Child()
_ONE_AT_A_TIME = ThreadPoolExecutor(1, "tokenizer-check")
atexit.register(_CHILD.end)


def start() -> None:
    """Start the child, which takes a second, while this process imports the library itself."""
    with suppress(OSError):
        _CHILD.started()


def begin(path: Path) -> "Future[Verdict]":
    """What a child process says of the tokenizer of a directory, found out meanwhile."""
    return _ONE_AT_A_TIME.submit(_CHILD.ask, path)


def _serve() -> None:
    """Try each directory that a line names, in a copy of this process where the system has such;
    else in this one."""
    sys.modules["torch"] = None  # type: ignore[assignment]  # it takes twice as long with it
    from transformers import AutoTokenizer

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # nothing else is said there
    forks = hasattr(os, "fork")
    for line in sys.stdin:
        if forks and os.fork():
            if os.wait()[1]:  # ended by a signal or a limit
                print(Verdict.HARMFUL, file=answers, flush=True)
            continue
        path, memory, seconds = json.loads(line)
        _limit(memory, seconds)
        print(_tried(AutoTokenizer, path), file=answers, flush=True)
        if forks:
            os._exit(0)
        faulthandler.cancel_dump_traceback_later()


def _limit(memory: int, seconds: float) -> None:
    """Let this process have so many more bytes, and so much processor time; on Windows only the
    elapsed time ends it. Limits that it has already stay."""
    faulthandler.dump_traceback_later(_ELAPSED * seconds, exit=True, file=sys.stderr)
    if sys.platform == "win32":
        return
    import resource

    whole = math.ceil(seconds)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text().split()[5])  # of data and stack
        with suppress(ValueError):
            limit_memory(pages * resource.getpagesize() + memory)


def _tried(kinds: Any, path: str) -> Verdict:
    """Load and use the tokenizer in a directory."""
    try:
        tokenizer = kinds.from_pretrained(path, local_files_only=True, trust_remote_code=False)
        return Verdict.SOUND if _holds(tokenizer) else Verdict.HARMFUL
    except MemoryError:
        return Verdict.HARMFUL
    except Exception:
        return Verdict.UNREADABLE
    except BaseException:  # as a panic in Rust is
        return Verdict.HARMFUL


def _holds(tokenizer: Any) -> bool:
    """Whether a tokenizer stays within what texts of the app's length may become, as far as its
    steps and trials tell."""
    texts = list(_TEXTS)
    rust = getattr(tokenizer, "backend_tokenizer", None) if tokenizer.is_fast else None
    if rust is not None:
        before = [_described(rust.normalizer), _described(rust.pre_tokenizer)]
        if may_grow(*before) or may_grow(_described(rust.decoder)):
            return False
        texts += _runs([pattern for part in before for pattern in _patterns(part)])
    is_usable(tokenizer)
    return all(
        _tokens(tokenizer, text) <= LARGEST_GROWTH * (len(text) + _LONGEST) for text in texts
    )


def _tokens(tokenizer: Any, text: str) -> int:
    """How many tokens a text becomes; none where it has symbols that the tokenizer lacks."""
    try:
        return len(tokenizer(text)["input_ids"])
    except MemoryError:
        raise
    except Exception:
        return 0


def _described(part: Any) -> Any:
    """A part of a tokenizer as its file describes it; None where there is none."""
    return None if part is None else json.loads(part.__getstate__())


def _patterns(part: Any) -> Iterator[str]:
    """The texts and regular expressions that the steps of a part look for."""
    for value in part.values() if isinstance(part, dict) else part if part else ():
        if isinstance(value, dict | list):
            yield from _patterns(value)
    pattern = part.get("pattern") if isinstance(part, dict) else None
    if isinstance(pattern, dict):
        yield from (text for text in pattern.values() if isinstance(text, str))


def _runs(patterns: Sequence[str]) -> list[str]:
    """Long texts of one sign each, on which a regular expression may try more ways than there is
    time for: some of every kind, and the patterns, their words and letters."""
    words = (word for pattern in patterns for word in re.findall(r"\w+", pattern))
    signs = list(dict.fromkeys([*_RUNS, *patterns, *words, *"".join(patterns)]))
    return [(sign * _LONGEST)[:_LONGEST] + "!" for sign in signs[:_MOST_RUNS] if sign]


if __name__ == "__main__":
    _serve()
