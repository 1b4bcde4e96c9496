"""Errors that a page tells in its next run: callbacks report them here."""

from dataclasses import dataclass, replace

from explorer.app.state import session
from explorer.core.errors import ExplorerError


@dataclass(frozen=True, slots=True)
class Messages:
    """page: told once, in the page's header.
    upload: told beside the uploader of models until the next upload.
    """

    page: ExplorerError | None = None
    upload: ExplorerError | None = None


def report(error: ExplorerError) -> None:
    """Tell `error` once, on the page."""
    session.save(replace(session.load(Messages), page=error.alone()))


def take() -> ExplorerError | None:
    """The reported error, which is then no longer reported."""
    messages = session.load(Messages)
    session.save(replace(messages, page=None))
    return messages.page


def report_upload(error: ExplorerError | None) -> None:
    """Tell `error` beside the uploader of models; None = no longer tell one."""
    stored = error.alone() if error else None
    session.save(replace(session.load(Messages), upload=stored))


def upload_error() -> ExplorerError | None:
    """Why the last model or trace was not taken."""
    return session.load(Messages).upload
