"""The popovers Files and Share of Explore: downloads, uploads, and the link to the picture."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import urlsplit

import streamlit as st

from explorer.app import model_cache
from explorer.app.asked_model import asked_model
from explorer.app.initial_view import initial_selection, initial_view
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
from explorer.core.csv_text import csv_bytes
from explorer.core.errors import ExplorerError
from explorer.core.i18n import say
from explorer.core.look import Look
from explorer.core.trace import Trace
from explorer.core.trace_file import LARGEST_UPLOADED
from explorer.model.catalog import CatalogMember

Offers = Mapping[str, tuple[Callable[[], bytes], str]]
"""Files to download: by the name of their sentence a function that makes the file, from any thread,
and the name of the file."""

_QR_CODE = 350  # px with its light border
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class ShownTrace:
    """The trace on screen, which its files are made from when they are clicked, in any thread."""

    member: CatalogMember
    look: Look

    def trace(self) -> Trace:
        """Raises `ExplorerError`."""
        return model_cache.trace(self.member, self.look.request)

    def page(self, language: str) -> bytes:
        """An HTML page with the trace. Raises `ExplorerError`."""
        from explorer.components.html_export import html_page

        request, trace = self.look.request, self.trace()
        wanted, _ = self.look.selection.without_server().within(trace)
        whole = wanted.step is None
        initial = initial_selection(wanted, self.member, trace, with_step=whole)
        view = initial_view(self.member, request, trace, initial, whole)
        model = asked_model(self.member, request, trace)
        return html_page(trace, language, replace(view, what_if=False), model=model).encode()

    def steps_table(self) -> bytes:
        """Raises `ExplorerError`."""
        return csv_bytes(self.trace().steps())

    def to_bytes(self) -> bytes:
        """Raises `ExplorerError`."""
        return self.trace().to_bytes()


def files(shown: ShownTrace | None, lesson: Offers, language: str) -> None:
    """Draw downloads of the trace on screen, uploads and their deletion.

    shown: None while there is no picture.
    lesson: files of the lesson that is followed.
    """
    _downloads(shown, lesson, language)
    _upload(language)
    for name in uploads():
        st.button(
            say("explore.delete", language, name=literal(name)),
            key=f"delete-{name}",
            on_click=partial(_delete, name),
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


def _downloads(shown: ShownTrace | None, lesson: Offers, language: str) -> None:
    """Buttons whose files are made when they are clicked, not before."""
    offers: Offers = lesson
    if shown is not None:
        name = f"attention-{shown.member.name}".replace(" ", "-").replace("/", "-")
        offers = {
            "html": (partial(shown.page, language), f"{name}.html"),
            "trace": (shown.to_bytes, f"{name}.trace"),
            "steps": (shown.steps_table, f"{name}-steps.csv"),
            **lesson,
        }
    for offer, (make, file_name) in offers.items():
        label, key = f"explore.download_{offer}", f"download-{offer}"
        download_button(label, make, file_name, key, language, width="stretch")


def _upload(language: str) -> None:
    """Draw the uploader of models and traces. An upload is shown at once."""
    label = say("explore.upload", language, limit=LARGEST_MB)
    file_uploader(label, ("safetensors", "trace", "npz"), language, _take_upload)
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


def _delete(name: str) -> None:
    """Drop an upload; another model is shown if it was on screen."""
    shown = visit_state.current()
    delete_upload(name)
    if visit_state.current() != shown:
        address_bar.show(visit_state.current())


def _take_upload(file_name: str, contents: bytes) -> None:
    """Add a file to the uploads and choose it, or report why it is refused."""
    from explorer.model.opening import read_upload

    try:
        name = add_upload(read_upload(file_name, contents))
        visit_state.choose_model(name, visitor_catalog())
        address_bar.show(visit_state.current())
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
