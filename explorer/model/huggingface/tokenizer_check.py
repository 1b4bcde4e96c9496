"""Try the tokenizer of a directory in a child process with limits, before this process reads it.

Reading a file may take all memory or endless time, or end the process, since most tokenizers are
Rust. `python -m explorer.model.huggingface.tokenizer_check` is the child. It imports the library
once, without torch. It tries each directory named on its standard input in a copy (fork) of itself,
so a check takes little more time than reading the files.
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
"""Bytes that a tokenizer may take, plus `MEMORY_EACH` for each byte of its files, up to
`MOST_MEMORY`. A SentencePiece model of 250,000 pieces, 4 MB, takes 400 MB while it is read, a
tokenizer.json of 256,000 entries, 43 MB, takes 600 MB."""

MEMORY_EACH = 100
MOST_MEMORY = 1536 * 2**20
SECONDS = 1.0
"""Processor time, plus `SECONDS_EACH` for each million bytes of its files, up to `MOST_SECONDS`.
Elapsed time may be `_ELAPSED` times as long, for a busy machine."""

SECONDS_EACH = 0.3
MOST_SECONDS = 20.0

_MEMORY_TO_COUNT = 3.6
_SECONDS_TO_COUNT = 0.015
"""Limits until the library reads the files, while entries are counted and steps are tried without
entries: bytes for each byte of the files, at least `MEMORY`; seconds for each million bytes, in
addition to `SECONDS`."""

_ELAPSED = 30
_STARTED = 60.0
"""Elapsed seconds for each second of processor time, and for the start of the child."""

_ONE_THREAD = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    **{"TOKENIZERS_PARALLELISM": "false", "HF_HUB_DISABLE_XET": "1"},
}
"""Environment of the child: one thread, because a fork may wait for threads that it lacks."""

_LONGEST = 2000  # characters of a text, as many as the app takes
_RUNS = "aA1 .\n\té猫\u0627\U0001f600"
_TEXTS = ("The cat sleeps.", "猫在睡觉。", "\u0627\u0644\u0633 \U0001f600", "a b " * 500)
_MOST_RUNS = 64
_LONGEST_PATTERN = 100_000  # characters; DeepSeek's have 2,000
_HARMFUL = json.dumps(["harmful_tokenizer", {}])


class _Child:
    """The child process; started again if it has ended."""

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
                    start_new_session=True,  # so that its forks end with it
                )
            return self._process

    def ask(self, path: Path, family: str) -> ModelDirectoryError | None:
        """Reason not to use the tokenizer of a directory, or None if it may be used."""
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
        """Kill the child and its forks, even during a trial."""
        if self._process is not None:
            self._kill()
            self._process.wait()
            for pipe in filter(None, (self._process.stdin, self._process.stdout)):
                with suppress(OSError):
                    pipe.close()

    def _kill(self) -> None:
        if self._process is None or self._process.poll() is not None:
            return  # its pid may belong to another process by now
        with suppress(OSError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)


@dataclass(frozen=True)
class _Limits:
    """Bytes and seconds for a whole trial, and for its part before the library reads the files."""

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
        """Set the limits of this process until `set_whole`; on Windows only elapsed time.

        Stricter existing limits stay.
        """
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
        """Raise the limits of this process to the whole memory and time of a trial."""
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
    """Start the child, so that its start (a second) overlaps with this process's own imports."""
    with suppress(OSError):
        _CHILD.started()


def begin(path: Path, family: str = "") -> "Future[ModelDirectoryError | None]":
    """Begin the check of a directory in the child.

    The future holds the reason not to use the tokenizer, or None if it may be used.

    family: of the model, if its config names none.
    """
    return _ONE_AT_A_TIME.submit(_CHILD.ask, path, family)


def _serve() -> None:
    """Try the directory in each line of standard input, in a fork of this process if the system has
    forks, else in this process."""
    sys.modules["torch"] = None  # type: ignore[assignment]  # importing torch would double the time
    from transformers import AutoConfig, AutoTokenizer

    def opened(path: Path, family: str) -> Any:
        options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        if family:
            options["config"] = AutoConfig.for_model(family)
        return AutoTokenizer.from_pretrained(str(path), **options)

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # no other output goes to the pipe
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
    """Count the entries of a tokenizer, try its steps, load it and use it.

    Returns the key and facts of the error, key "" if the tokenizer may be used.

    opened: returns the library's tokenizer for a directory.
    """
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
    except BaseException:  # such as a panic in Rust
        pass
    return ("" if sound else "harmful_tokenizer"), {}


def _steps_hold(steps: dict[str, Any]) -> bool:
    """Whether the steps of a tokenizer.json stay within limits, tried with an empty vocabulary.

    True if they cannot be read: the library then says why.
    """
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
    """Texts on which the steps of a tokenizer may fail, or None if the steps may make a text many
    times longer."""
    before = [_described(rust.normalizer), _described(rust.pre_tokenizer)]
    if may_grow(*before) or may_grow(_described(rust.decoder)):
        return None
    return [*_TEXTS, *_runs([pattern for part in before for pattern in _patterns(part)])]


def _holds(tokenizer: Any) -> bool:
    """Whether a tokenizer makes a bounded number of tokens from texts of the app's length, by its
    steps and by trials."""
    rust = getattr(tokenizer, "backend_tokenizer", None) if tokenizer.is_fast else None
    texts = list(_TEXTS) if rust is None else _trials(rust)
    if texts is None:
        return False
    is_usable(tokenizer)
    return all(
        _tokens(tokenizer, text) <= LARGEST_GROWTH * (len(text) + _LONGEST) for text in texts
    )


def _tokens(tokenizer: Any, text: str) -> int:
    """Number of tokens of a text; 0 if the tokenizer fails, for example on unknown symbols."""
    try:
        return len(tokenizer(text)["input_ids"])
    except MemoryError:
        raise
    except Exception:
        return 0


def _described(part: Any) -> Any:
    """Description of a tokenizer part as in its file, or None without the part."""
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
    """Long texts that repeat one sign, on which a regular expression may need too many tries.

    The signs are some of every kind, and the patterns with their words and letters.
    """
    words = (word for pattern in patterns for word in re.findall(r"\w+", pattern))
    signs = list(dict.fromkeys([*_RUNS, *patterns, *words, *"".join(patterns)]))
    return [(sign * _LONGEST)[:_LONGEST] + "!" for sign in signs[:_MOST_RUNS] if sign]


if __name__ == "__main__":
    _serve()
