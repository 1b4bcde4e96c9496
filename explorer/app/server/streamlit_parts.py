"""Undocumented parts of Streamlit and its server that the app uses.

Another version may lack a part; the start then says so in one sentence. `app/main.css` also uses
class names of Streamlit's pages, which no import can check, so the start also reports a newer
version.
"""

import re
import sys
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec

from explorer.core.i18n import LANGUAGES, say

NEWEST_TRIED = "1.67.0"
"""The Streamlit version that the daily tests run with."""

PARTS = (
    "streamlit.components.v2.types:ComponentRenderer",
    "streamlit.delta_generator:DeltaGenerator",
    "streamlit.navigation.page:StreamlitPage",
    "streamlit.proto.BackMsg_pb2:BackMsg",
    "streamlit.proto.ClientState_pb2:ClientState",
    "streamlit.proto.ForwardMsg_pb2:ForwardMsg",
    "streamlit.runtime.scriptrunner:get_script_run_ctx",
    "streamlit.runtime.uploaded_file_manager:UploadedFile",
    "streamlit.web:cli",
    "uvicorn.config:HTTP_PROTOCOLS",
    "uvicorn.middleware.proxy_headers:ProxyHeadersMiddleware",
    "uvicorn.protocols.http.h11_impl:H11Protocol",
)
"""Module and name."""


def check() -> None:
    """Exit with a sentence if a part is missing. Print one if Streamlit is newer than tried."""
    _check_arrow()
    facts = {"installed": version("streamlit"), "tried": NEWEST_TRIED}
    if absent := [part for part in PARTS if not _is_there(part)]:
        facts["parts"] = ", ".join(absent)
        sys.exit("\n".join(say("server.streamlit_lacks", one, **facts) for one in LANGUAGES))
    if _main_numbers(facts["installed"]) > _main_numbers(NEWEST_TRIED):
        print(say("server.streamlit_newer", "en", **facts), file=sys.stderr)


def _check_arrow() -> None:
    """Exit with a sentence if Streamlit's tables cannot be drawn: pyarrow from 25 on refuses NumPy
    1, which pip does not know."""
    if _main_numbers(version("numpy")) >= [2]:
        return  # pyarrow is imported when a table is drawn
    try:
        import_module("pyarrow")
    except ImportError as error:
        sentences = [say("server.arrow_fails", one, reason=str(error)) for one in LANGUAGES]
        sys.exit("\n".join(sentences))


def _is_there(part: str) -> bool:
    module, _, name = part.partition(":")
    try:
        return hasattr(import_module(module), name) or find_spec(f"{module}.{name}") is not None
    except ImportError:
        return False


def _main_numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)[:2]]
