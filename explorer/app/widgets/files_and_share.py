"""The corner of Explore: files in and out, and the link to this very picture."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from explorer.app.permalink import Place
from explorer.app.server import access, upload_guard
from explorer.app.state import explore as explore_state
from explorer.app.uploads import (
    MOST_UPLOADS,
    delete_upload,
    describe_chooser,
    keep_upload,
    note_upload_problem,
    take_file,
    upload_key,
    upload_problem,
    uploads,
)
from explorer.app.widgets.messages import complain, plain
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.core.trace import Trace
from explorer.model.catalog import Entry, bring

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""What makes a spreadsheet calculate a cell instead of showing it."""


def files(shelf: Mapping[str, Entry], trace: Trace, place: Place, language: str) -> None:
    """Downloads of what is shown, and, for who may, uploads and their end."""
    _downloads(trace, place, language)
    if not access.rights(explore_state.is_host()).bring:
        st.caption(say("explore.upload_refused", language))
        return
    _upload(shelf, language)
    for name in uploads():
        st.button(
            say("explore.delete", language, name=plain(name)),
            key=f"delete-{name}",
            on_click=partial(delete_upload, name, shelf),
            icon=":material/delete:",
        )


def share(shelf: Mapping[str, Entry], place: Place, language: str) -> None:
    """The link to what is shown; in a classroom also how to join."""
    if shelf[place.request.model].uploaded:
        st.caption(say("explore.share_upload", language))
    else:
        st.caption(say("explore.share_about", language))
        st.code(explore_state.link(place), language=None, wrap_lines=True)
    if access.is_classroom():
        _join(language)


def _downloads(trace: Trace, place: Place, language: str) -> None:
    """Buttons whose files are made when they are asked for, not before."""
    name = f"attention-{place.request.model}".replace(" ", "-")
    offers = {
        "html": (lambda: _page(trace, language), ".html", "text/html"),
        "trace": (trace.to_bytes, ".trace", "application/octet-stream"),
        "steps": (lambda: _steps_table(trace), "-steps.csv", "text/csv"),
    }
    for offer, (make, ending, kind) in offers.items():
        st.download_button(
            say(f"explore.download_{offer}", language),
            make,
            file_name=name + ending,
            mime=kind,
            key=f"download-{offer}",
            on_click="ignore",
            icon=":material/download:",
            width="stretch",
        )


def _page(trace: Trace, language: str) -> bytes:
    from explorer.components.html_export import html_page

    return html_page(trace, language).encode()


def _steps_table(trace: Trace) -> bytes:
    table = trace.steps()
    table["token"] = [f"'{token}" if token.startswith(_FORMULA) else token for token in table.token]
    # The mark at the beginning tells spreadsheets that the symbols are UTF-8; with this end of
    # a line, either of its characters inside a token is quoted and begins no cell.
    return table.to_csv(index=False, lineterminator="\r\n").encode("utf-8-sig")


def _upload(shelf: Mapping[str, Entry], language: str) -> None:
    """The door for files: read at once, kept under its name, and looked at."""
    describe_chooser(language)
    key, limit = upload_key(), upload_guard.LARGEST // 2**20
    st.file_uploader(
        say("explore.upload", language, limit=limit),
        type=["safetensors", "trace"],
        max_upload_size=limit,
        key=key,
        on_change=partial(_take_upload, key, shelf),
    )
    st.caption(
        say("explore.upload_about", language, count=MOST_UPLOADS)
    )  # `help` has English words
    if (problem := upload_problem()) is not None:
        complain(problem, language)


def _take_upload(key: str, shelf: Mapping[str, Entry]) -> None:
    """Put a file that arrived on the shelf and look at it, or note why not."""
    problem = None
    if (file := take_file(key)) is not None:
        try:
            name = keep_upload(bring(*file), shelf)
            explore_state.choose_model(name, {**shelf, **uploads()})
        except ExplorerError as error:
            problem = error
    note_upload_problem(problem)


def _join(language: str) -> None:
    """The room's address as a QR code, and for the host the place to show the key."""
    address = explore_state.address()
    st.image(access.qr_code(address), width=220)
    st.caption(say("classroom.join", language, address=address))
    if explore_state.is_host():
        st.caption(say("classroom.you_are_host", language))
        return
    word = st.text_input(
        say("classroom.key", language),
        type="password",
        key=explore_state.HOST_KEY,
        on_change=partial(explore_state.become_host, access.is_key, access.admit),
        autocomplete="off",
    )
    st.caption(say("classroom.key_about", language))
    if word:
        st.error(say("classroom.key_wrong", language))
