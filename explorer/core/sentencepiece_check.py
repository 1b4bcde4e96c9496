"""Parse foreign SentencePiece bytes in a child process with limits, before anything else does.

SentencePiece is a C++ library: malicious bytes may exhaust memory, loop forever, or crash the
process that parses them. `python -m explorer.core.sentencepiece_check MEMORY SECONDS` is the
child: it reads the bytes from standard input and prints the key and facts of an error as JSON.
"""

import json
import math
import subprocess
import sys
import threading

from explorer.core import folders
from explorer.core.errors import VocabularyError
from explorer.core.memory import limit_memory
from explorer.core.sentencepiece_vocabulary import PieceVocabulary

LARGEST_PIECES = 16 * 2**20
"""Bytes; a model of 64,000 pieces has two million."""

MEMORY = 1024 * 2**20
"""Most bytes of memory of the child, if the system can limit it."""

SECONDS = 5
"""Limit of processor time. Elapsed time may be three times as long, on a busy machine."""

_TEXTS = ("The cat sleeps.", "猫在睡觉。", "\u0627\u0644\u0633 \U0001f600", "a b " * 500)
_ONE_AT_A_TIME = threading.Lock()


def refuse_harmful(proto: bytes, name: str) -> None:
    """Raise `VocabularyError` unless a child process can parse and use the SentencePiece model
    `proto` from a file called `name` within the limits."""
    if len(proto) > LARGEST_PIECES:
        raise VocabularyError("slow_pieces", name=name)
    limits = [str(MEMORY), str(math.ceil(SECONDS))]
    call = [sys.executable, "-m", "explorer.core.sentencepiece_check", *limits]
    try:
        with _ONE_AT_A_TIME:
            done = subprocess.run(
                call,
                input=proto,
                capture_output=True,
                cwd=folders.IMPORT_ROOT,
                timeout=3 * SECONDS,
                check=False,
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise VocabularyError("slow_pieces", name=name) from error
    if done.returncode:  # ended by a signal, or out of memory
        raise VocabularyError("slow_pieces", name=name)
    if done.stdout:
        key, facts = json.loads(done.stdout)
        raise VocabularyError(key, **facts)


def _check() -> None:
    """Parse the bytes on standard input and use them; print the key and facts of an error."""
    memory, seconds = map(int, sys.argv[1:])
    proto = sys.stdin.buffer.read()
    limit_memory(memory)
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        vocabulary = PieceVocabulary(proto)
        for text in _TEXTS:
            ids = vocabulary.encode(text)
            vocabulary.labels(ids)
            vocabulary.decode(ids)
    except VocabularyError as error:
        print(json.dumps([error.key, error.facts]))


if __name__ == "__main__":
    _check()
