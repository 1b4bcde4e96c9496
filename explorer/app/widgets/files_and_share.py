"""The popovers Files and Share of Explore: downloads, uploads, and the link to the picture."""

from collections.abc import Callable, Mapping
from functools import partial
from urllib.parse import urlsplit

import streamlit as st

from explorer.app.server import access
from explorer.app.state import address_bar
from explorer.app.state import visit as visit_state
from explorer.app.visitor_catalog import (
    MOST_UPLOADS,
    add_upload,
    delete_upload,
    refuse_upload,
    refused_upload,
    uploads,
    visitor_catalog,
)
from explorer.app.widgets.downloads import download_button
from explorer.app.widgets.file_uploader import LARGEST_MB, file_uploader
from explorer.app.widgets.messages import literal, show_error
from explorer.components.player.payload import View
from explorer.components.trace_questions import AskedModel
from explorer.core.csv_text import csv_bytes
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.core.trace import Trace
from explorer.core.trace_file import LARGEST_UPLOADED
from explorer.model.catalog import CatalogMember

Offers = Mapping[str, tuple[Callable[[], bytes], str]]
"""Files to download: by the name of their sentence a function that makes the file, from any thread,
and the name of the file."""

_QR_CODE = 350  # px with its light border
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def files(
    trace: Trace,
    model: str,
    view: Callable[[], View],
    asked: AskedModel | None,
    language: str,
    lesson: Offers,
) -> None:
    """Draw downloads of the trace on screen, uploads and their deletion.

    view: initial view of the HTML page; called from any thread when the page is made.
    asked: computes the inside of a layer for the page.
    lesson: files of the lesson that is followed.
    """
    _downloads(trace, model, lambda: _page(trace, view(), asked, language), language, lesson)
    _upload(language)
    for name in uploads():
        st.button(
            say("explore.delete", language, name=literal(name)),
            key=f"delete-{name}",
            on_click=partial(delete_upload, name),
            icon=":material/delete:",
        )


def link(member: CatalogMember, query: Mapping[str, str], language: str) -> None:
    """The link to the view on screen, which has this query, or the reason why there is none."""
    if member.can_share:
        st.caption(say("explore.share_about", language))
        st.code(address_bar.link(query, language), language=None, wrap_lines=True)
        if urlsplit(address_bar.app_address()).hostname in _LOOPBACK:
            st.caption(_who_else_opens(language))
    else:
        st.caption(say("explore.share_upload", language))


def _who_else_opens(language: str) -> str:
    """A sentence on how others reach an app whose address names this computer."""
    if not access.is_class_mode():
        return say("explore.share_local", language)
    address = join_address()
    if urlsplit(address).hostname in _LOOPBACK:
        return say("classroom.link_here", language)
    return say("classroom.link_local", language, address=address)


def _downloads(
    trace: Trace,
    model: str,
    page: Callable[[], bytes],
    language: str,
    lesson: Offers,
) -> None:
    """Buttons whose files are made when they are clicked, not before."""
    name = f"attention-{model}".replace(" ", "-").replace("/", "-")
    offers: Offers = {
        "html": (page, f"{name}.html"),
        "trace": (trace.to_bytes, f"{name}.trace"),
        "steps": (partial(_steps_table, trace), f"{name}-steps.csv"),
        **lesson,
    }
    for offer, (make, file_name) in offers.items():
        label, key = f"explore.download_{offer}", f"download-{offer}"
        download_button(label, make, file_name, key, language, width="stretch")


def _page(trace: Trace, view: View, asked: AskedModel | None, language: str) -> bytes:
    from explorer.components.html_export import html_page

    return html_page(trace, language, view, model=asked).encode()


def _steps_table(trace: Trace) -> bytes:
    return csv_bytes(trace.steps())


def _upload(language: str) -> None:
    """Draw the uploader of models and traces. An upload is shown at once."""
    label = say("explore.upload", language, limit=LARGEST_MB)
    file_uploader(label, ("safetensors", "trace"), language, _take_upload)
    st.caption(
        say(
            "explore.upload_about",
            language,
            count=MOST_UPLOADS,
            unfolded=LARGEST_UPLOADED // 2**20,
        )
    )  # the uploader's `help` has English words
    if (error := refused_upload()) is not None:
        show_error(error, language)


def _take_upload(file_name: str, contents: bytes) -> None:
    """Add a file to the uploads and choose it, or report why it is refused."""
    from explorer.model.opening import read_upload

    try:
        name = add_upload(read_upload(file_name, contents))
        visit_state.choose_model(name, visitor_catalog())
    except ExplorerError as error:
        refuse_upload(error)
    else:
        refuse_upload(None)


def join(language: str) -> None:
    """Draw the address as a QR code, in class mode, large enough for the back row."""
    if not access.is_class_mode():
        return
    address = join_address()
    with st.container(key="join"):
        st.image(access.qr_code(address), width=_QR_CODE)
        here = urlsplit(address).hostname in _LOOPBACK
        told = "class_tools.code_here" if here else "classroom.join"
        st.caption(say(told, language, address=address))
        if address.startswith("http:"):
            st.caption(say("classroom.plain_http", language))


def join_address() -> str:
    """The app's URL for guests: that of this page or, if it names only this machine, with the name
    under which the class was started."""
    address = address_bar.app_address()
    parts, name = urlsplit(address), str(st.get_option("browser.serverAddress") or "")
    if not name or name in _LOOPBACK or parts.hostname not in _LOOPBACK:
        return address
    shown = f"[{name}]" if ":" in name else name
    return parts._replace(netloc=f"{shown}:{parts.port}" if parts.port else shown).geturl()
