"""The only file uploader: its words, its limits, and a file that is handed over once.

The kind and size of a file are checked here and not by Streamlit, which refuses files in English
alone, and fails with a traceback if no browser has filtered them.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from explorer.app.state import session
from explorer.app.widgets.messages import show_error
from explorer.core.errors import ExplorerError, FileError
from explorer.core.files import byte_count
from explorer.core.i18n import say
from explorer.core.vocabulary import shorten

LARGEST_MB = 64
"""MB of one file."""

PAIRS_ENDINGS = ("tsv", "csv", "txt", "tmx", "jsonl", "json")
"""Of files of sentences and translations."""

OnFile = Callable[[str, bytes], None]
"""Called with the name and the contents of a file. An `ExplorerError` that it raises refuses the
file."""


@dataclass(frozen=True, slots=True)
class UploaderState:
    """files_taken: part of the uploaders' keys: after each file a new, empty one is drawn.
    refused: why the last file was refused, and the key of the uploader that shows it below.
    """

    files_taken: int = 0
    refused: tuple[str, ExplorerError] | None = None


def file_uploader(
    label: str,
    endings: Sequence[str],
    language: str,
    on_file: OnFile,
    *,
    prefix: str = "",
    limit_mb: int = LARGEST_MB,
) -> None:
    """An uploader for files with one of these `endings`; `prefix` distinguishes its key from
    others'."""
    # Streamlit's uploader has English words only; main.css shows this text instead.
    choose = json.dumps(say("explore.upload_choose", language), ensure_ascii=False)
    st.html(f"<style>:root {{ --choose-file: {choose}; }}</style>")
    state = session.load(UploaderState)
    key = _key(prefix, state)
    allowed = tuple(f".{ending}" for ending in endings)
    st.file_uploader(
        label,
        max_upload_size=LARGEST_MB,
        key=key,
        on_change=partial(_take, prefix, allowed, limit_mb, on_file),
    )
    if state.refused is not None and state.refused[0] == key:
        show_error(state.refused[1], language)


def _key(prefix: str, state: UploaderState) -> str:
    return f"{prefix}upload-{state.files_taken}"


def _take(prefix: str, endings: tuple[str, ...], limit_mb: int, on_file: OnFile) -> None:
    """Hand the file over, or refuse it, and drop Streamlit's copy, which it would keep with the
    session."""
    before = session.load(UploaderState)
    key, after = _key(prefix, before), UploaderState(before.files_taken + 1)
    file = session.widget_value(key)
    if not isinstance(file, UploadedFile):
        return
    contents = file.getvalue()
    if (context := get_script_run_ctx()) is not None:
        context.uploaded_file_mgr.remove_session_files(context.session_id)
    try:
        _refuse(file.name, len(contents), endings, limit_mb)
        on_file(file.name, contents)
    except ExplorerError as error:
        after = replace(after, refused=(_key(prefix, after), error.alone()))
    session.save(after)


def _refuse(file_name: str, size: int, endings: tuple[str, ...], limit_mb: int) -> None:
    """Raise `FileError` on a file of another kind, and on one that is too large."""
    name = shorten(file_name)
    if not file_name.lower().endswith(endings):
        raise FileError("wrong_ending", name=name, endings=", ".join(endings))
    if size > (most := limit_mb * 2**20):
        facts = {"size": byte_count(size), "limit": byte_count(most)}
        raise FileError("file_too_large", name=name, **facts)
