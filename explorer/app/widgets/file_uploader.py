"""The one file uploader: its words, its size limit, and the file handed over once."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from explorer.app.server import upload_guard
from explorer.app.state import session
from explorer.core.i18n import say

LARGEST_MB = upload_guard.LARGEST // 2**20
"""MB of one file."""

OnFile = Callable[[str, bytes], None]
"""Called with the name and the contents of a file."""


@dataclass(frozen=True, slots=True)
class UploaderState:
    """files_taken: part of the uploaders' keys: after each file a new, empty one is drawn."""

    files_taken: int = 0


def file_uploader(
    label: str,
    endings: Sequence[str],
    language: str,
    on_file: OnFile,
    *,
    prefix: str = "",
    limit_mb: int = LARGEST_MB,
) -> None:
    """An uploader for files with one of these `endings`; `prefix` tells its key from others'."""
    # Streamlit's uploader has English words only; main.css shows this text instead.
    choose = json.dumps(say("explore.upload_choose", language), ensure_ascii=False)
    st.html(f"<style>:root {{ --choose-file: {choose}; }}</style>")
    key = f"{prefix}upload-{session.load(UploaderState).files_taken}"
    st.file_uploader(
        label,
        type=list(endings),
        max_upload_size=limit_mb,
        key=key,
        on_change=partial(_take, key, on_file),
    )


def _take(key: str, on_file: OnFile) -> None:
    """Hand the file over and drop Streamlit's copy, which it would keep with the session."""
    file = session.widget_value(key)
    if not isinstance(file, UploadedFile):
        return
    contents = file.getvalue()
    session.save(UploaderState(session.load(UploaderState).files_taken + 1))
    if (context := get_script_run_ctx()) is not None:
        context.uploaded_file_mgr.remove_session_files(context.session_id)
        upload_guard.forget(context.session_id)
    on_file(file.name, contents)
