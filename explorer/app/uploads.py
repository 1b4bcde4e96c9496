"""What one visitor brought: files of the session's own, kept in memory as long as it lasts."""

import json
from collections.abc import Mapping
from dataclasses import replace

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from explorer.app.server import upload_guard
from explorer.app.state import explore as explore_state
from explorer.app.state.explore import VisitError
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.model.catalog import CatalogMember, Upload

MOST_UPLOADS = 4
"""Files one visitor may bring at a time; they live in memory."""

_UPLOADS = "uploads"
_PROBLEM = "upload_problem"
_TAKEN = "files_taken"


def uploads() -> dict[str, Upload]:
    """What this visitor brought, by name."""
    found: dict[str, Upload] = st.session_state.setdefault(_UPLOADS, {})
    return found


def keep_upload(entry: Upload, taken: Mapping[str, CatalogMember]) -> str:
    """Put an upload on this visitor's shelf under a name nobody else has; its name.

    Raises `VisitError` when the shelf is full.
    """
    mine = uploads()
    for name, other in mine.items():
        if other.stamp == entry.stamp:
            return name
    if len(mine) >= MOST_UPLOADS:
        raise VisitError("too_many_uploads", limit=MOST_UPLOADS)
    name, number = entry.name, 2
    while name in taken:
        name, number = f"{entry.name} ({number})", number + 1
    mine[name] = replace(entry, name=name)
    return name


def delete_upload(name: str, shelf: Mapping[str, CatalogMember]) -> None:
    """Forget an upload; a picture of it gives way to the first model's."""
    uploads().pop(name, None)
    if st.session_state[explore_state.MODEL] == name:
        explore_state.choose_model(next(iter(shelf)), shelf)


def upload_key() -> str:
    """The key of the uploader: another one after each file, so that it is empty again."""
    return f"upload-{st.session_state.get(_TAKEN, 0)}"


def describe_chooser(language: str) -> None:
    """Give the next uploader's button our words; see main.css."""
    choose = json.dumps(say("explore.upload_choose", language), ensure_ascii=False)
    st.html(f"<style>:root {{ --choose-file: {choose}; }}</style>")


def take_file(key: str) -> tuple[str, bytes] | None:
    """Name and contents of the file in the uploader with the key `key`.

    Streamlit would keep its copy until the session ends; read once, it is not needed again.
    """
    file = st.session_state.get(key)
    if not isinstance(file, UploadedFile):
        return None
    contents = file.getvalue()
    st.session_state[_TAKEN] = st.session_state.get(_TAKEN, 0) + 1
    if (context := get_script_run_ctx()) is not None:
        context.uploaded_file_mgr.remove_session_files(context.session_id)
        upload_guard.forget(context.session_id)
    return file.name, contents


def upload_problem() -> ExplorerError | None:
    """Why the last upload was not taken."""
    problem: ExplorerError | None = st.session_state.get(_PROBLEM)
    return problem


def note_upload_problem(problem: ExplorerError | None) -> None:
    """Remember why an upload was not taken, until the next one."""
    st.session_state[_PROBLEM] = problem
