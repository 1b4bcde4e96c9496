"""What a page tells in its next run: callbacks report it here."""

from dataclasses import dataclass, replace

from explorer.app.state import session
from explorer.core.errors import ExplorerError


@dataclass(frozen=True, slots=True)
class Messages:
    """page: told once, in the page's header. notice: as well, where nothing went wrong.
    upload: told beside the uploader of models until the next upload.
    """

    page: ExplorerError | None = None
    notice: str = ""
    upload: ExplorerError | None = None


def report(error: ExplorerError) -> None:
    """Tell `error` once, on the page."""
    session.save(replace(session.load(Messages), page=error.alone()))


def take() -> ExplorerError | None:
    """The reported error, which is then no longer reported."""
    messages = session.load(Messages)
    session.save(replace(messages, page=None))
    return messages.page


def notify(sentence: str) -> None:
    """Tell `sentence` once, on the page."""
    session.save(replace(session.load(Messages), notice=sentence))


def take_notice() -> str:
    """What was to be told, which then no longer is; "" for nothing."""
    messages = session.load(Messages)
    session.save(replace(messages, notice=""))
    return messages.notice


def report_upload(error: ExplorerError | None) -> None:
    """Tell `error` beside the uploader of models; None = no longer tell one."""
    stored = error.alone() if error else None
    session.save(replace(session.load(Messages), upload=stored))


def upload_error() -> ExplorerError | None:
    """Why the last model or trace was not taken."""
    return session.load(Messages).upload
