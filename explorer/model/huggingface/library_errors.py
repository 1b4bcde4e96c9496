"""Errors of the library's own code as one sentence each."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pickle import UnpicklingError

import transformers

from explorer.core.errors import ExplorerError, ModelDirectoryError

_LONGEST = 300  # characters of a reason

_FOLDERS = re.compile(r"(?<![\w:/.])(?:[A-Za-z]:)?(?:[/\\][^\s/\\'\"]+)+[/\\]")
"""The folders of a path, which visitors of a server are not shown."""


@contextmanager
def reported(key: str, **facts: object) -> Iterator[None]:
    """Turn any error of the library in the block into `ModelDirectoryError`, with its reason.

    That includes panics in Rust, which are not an `Exception`. Of a pickle with code it says that
    nothing was run, because the library advises to run it. Warnings and progress bars are silenced,
    for example about attention of a family's own, or packages that it recommends.
    """
    level = transformers.logging.get_verbosity()
    bar = transformers.logging.is_progress_bar_enabled()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except ExplorerError:
        raise
    except UnpicklingError as error:
        raise ModelDirectoryError("code_in_weights", **facts) from error
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise ModelDirectoryError(key, reason=reason_of(error), **facts) from error
    finally:
        transformers.logging.set_verbosity(level)
        if bar:
            transformers.logging.enable_progress_bar()


def reason_of(error: BaseException) -> str:
    """The message of an error on one line, shortened, with files by their names alone; without one,
    the kind of the error."""
    told = f"KeyError: {error}" if isinstance(error, KeyError) else str(error)
    line = _FOLDERS.sub("", " ".join(told.split())) or type(error).__name__
    return f"{line[:_LONGEST]}…" if len(line) > _LONGEST else line
