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
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import partial
from pathlib import Path
from threading import Lock, Timer
from typing import Any

from explorer.core import folders
from explorer.core.errors import ModelDirectoryError
from explorer.core.memory import limit_memory
from explorer.model.huggingface.directory_files import LARGEST_VOCABULARY, tokenizer_among
from explorer.model.huggingface.text_growth import LARGEST_GROWTH, may_grow
from explorer.model.huggingface.tokenizer_counts import as_json, steps_within
from explorer.model.huggingface.tokens import is_usable

MEMORY = 200 * 2**20
"""Bytes that a tokenizer may take, and `MEMORY_EACH` for each byte of its files, up to
`MOST_MEMORY`. A SentencePiece model of 250,000 pieces, 4 MB, takes 400 MB while it is read, a
tokenizer.json of 256,000 entries, 43 MB, takes 600 MB."""

MEMORY_EACH = 100
MOST_MEMORY = 1536 * 2**20
SECONDS = 1.0
"""Of processor time, and `SECONDS_EACH` for each million bytes of its files, up to `MOST_SECONDS`.
Of elapsed time it may take `_ELAPSED` times as long, on a busy machine."""

SECONDS_EACH = 0.3
MOST_SECONDS = 20.0

_MEMORY_TO_COUNT = 3.6
_SECONDS_TO_COUNT = 0.015
"""For each byte, and for each million: before the library reads the files, their entries are
counted and their steps are tried without any. It may take `MEMORY`
where that is more, and `SECONDS` beyond."""

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
_LONGEST_PATTERN = 100_000  # characters; DeepSeek's have 2,000
_HARMFUL = json.dumps(["harmful_tokenizer", {}])


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

    def ask(self, path: Path, family: str) -> ModelDirectoryError | None:
        """Why the tokenizer of a directory is not used; None where it may be."""
        answer = ""
        with suppress(OSError):
            process = self.started()
            assert process.stdin
            assert process.stdout
            limits = _Limits.of(path)
            watch = Timer(_ELAPSED * limits.seconds + _STARTED, self._kill)
            watch.start()
            request = json.dumps([str(path.absolute()), family, *astuple(limits)])
            print(request, file=process.stdin, flush=True)
            answer = process.stdout.readline()
            watch.cancel()
        key, facts = json.loads(answer or _HARMFUL)
        return ModelDirectoryError(key, **{"name": path.name} | facts) if key else None

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


@dataclass(frozen=True)
class _Limits:
    """Bytes and seconds for the tokenizer in a directory, and those until its library reads it."""

    memory: int
    seconds: float
    memory_to_count: int
    seconds_to_count: float

    @classmethod
    def of(cls, path: Path) -> "_Limits":
        names = tokenizer_among(file.name for file in path.iterdir())
        size = sum((path / name).stat().st_size for name in names)
        whole, counted = (
            min(MEMORY + MEMORY_EACH * size, MOST_MEMORY),
            min(size, LARGEST_VOCABULARY),
        )
        return cls(
            whole,
            min(SECONDS + SECONDS_EACH * size / 1e6, MOST_SECONDS),
            min(max(MEMORY, round(_MEMORY_TO_COUNT * counted)), whole),
            SECONDS + _SECONDS_TO_COUNT * counted / 1e6,
        )

    def set_to_count(self) -> None:
        """Let this process have so much until `set_whole`; on Windows only the elapsed time ends
        it. Limits that it has already stay."""
        faulthandler.dump_traceback_later(_ELAPSED * self.seconds, exit=True, file=sys.stderr)
        if sys.platform == "win32":
            return
        import resource

        whole = math.ceil(self.seconds)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(ValueError):
            resource.setrlimit(resource.RLIMIT_CPU, (whole, whole))
        signal.setitimer(signal.ITIMER_PROF, self.seconds_to_count)  # its signal ends the process
        if sys.platform == "linux":
            pages = int(Path("/proc/self/statm").read_text().split()[5])  # of data and stack
            taken = pages * resource.getpagesize()
            with suppress(ValueError):
                limit_memory(taken + self.memory_to_count, taken + self.memory)

    @staticmethod
    def set_whole() -> None:
        """Let this process have all memory and time that a tokenizer may take."""
        if sys.platform == "win32":
            return
        import resource

        signal.setitimer(signal.ITIMER_PROF, 0)
        _, whole = resource.getrlimit(resource.RLIMIT_DATA)
        if sys.platform == "linux":
            limit_memory(whole)


_CHILD = _Child()
_ONE_AT_A_TIME = ThreadPoolExecutor(1, "tokenizer-check")
atexit.register(_CHILD.end)


def start() -> None:
    """Start the child, which takes a second, while this process imports the library itself."""
    with suppress(OSError):
        _CHILD.started()


def begin(path: Path, family: str = "") -> "Future[ModelDirectoryError | None]":
    """Why the tokenizer of a directory is not used, found out meanwhile by a child process; None
    where it may be.

    family: of the model, where its config names none.
    """
    return _ONE_AT_A_TIME.submit(_CHILD.ask, path, family)


def _serve() -> None:
    """Try each directory that a line names, in a copy of this process where the system has such;
    else in this one."""
    sys.modules["torch"] = None  # type: ignore[assignment]  # it takes twice as long with it
    from transformers import AutoConfig, AutoTokenizer

    def opened(path: Path, family: str) -> Any:
        options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        if family:
            options["config"] = AutoConfig.for_model(family)
        return AutoTokenizer.from_pretrained(str(path), **options)

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # nothing else is said there
    forks = hasattr(os, "fork")
    for line in sys.stdin:
        if forks and os.fork():
            if os.wait()[1]:  # ended by a signal or a limit
                print(_HARMFUL, file=answers, flush=True)
            continue
        path, family, *limits = json.loads(line)
        fault = _fault(partial(opened, family=family), Path(path), _Limits(*limits))
        print(json.dumps(fault), file=answers)
        answers.flush()
        if forks:
            os._exit(0)
        faulthandler.cancel_dump_traceback_later()


def _fault(
    opened: Callable[[Path], Any], path: Path, limits: _Limits
) -> tuple[str, dict[str, object]]:
    """The key and facts of why the tokenizer in a directory is not used; no key where it may be:
    count its entries, try its steps, load it and use it. opened: the library's for a directory."""
    sound = False
    try:
        limits.set_to_count()
        if _steps_hold(steps_within(path)):
            limits.set_whole()
            sound = _holds(opened(path))
    except ModelDirectoryError as error:
        return error.key, dict(error.facts)
    except MemoryError:
        pass
    except Exception:
        return "no_tokenizer", {}
    except BaseException:  # as a panic in Rust is
        pass
    return ("" if sound else "harmful_tokenizer"), {}


def _steps_hold(steps: dict[str, Any]) -> bool:
    """Whether the steps of a tokenizer.json hold, tried with a vocabulary of nothing; of those
    that cannot be read the library tells more."""
    from tokenizers import Tokenizer

    own = {name: steps.get(name) for name in ("normalizer", "pre_tokenizer", "decoder")}
    if any(len(pattern) > _LONGEST_PATTERN for pattern in _patterns(own)):
        return False
    nothing = {"type": "BPE", "vocab": {}, "merges": []}
    described: dict[str, Any] = {"version": "1.0", "added_tokens": [], "model": nothing} | own
    try:
        rust = Tokenizer.from_str(as_json(described))
    except MemoryError:
        raise
    except Exception:
        return True
    texts = _trials(rust)
    for one in texts or ():
        with suppress(ValueError):
            rust.encode(one)
    return texts is not None


def _trials(rust: Any) -> list[str] | None:
    """Texts on which the steps of a tokenizer may fail; None where they may make a text many times
    as long."""
    before = [_described(rust.normalizer), _described(rust.pre_tokenizer)]
    if may_grow(*before) or may_grow(_described(rust.decoder)):
        return None
    return [*_TEXTS, *_runs([pattern for part in before for pattern in _patterns(part)])]


def _holds(tokenizer: Any) -> bool:
    """Whether a tokenizer stays within what texts of the app's length may become, as far as its
    steps and trials tell."""
    rust = getattr(tokenizer, "backend_tokenizer", None) if tokenizer.is_fast else None
    texts = list(_TEXTS) if rust is None else _trials(rust)
    if texts is None:
        return False
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
