"""What a page tells in its next run: callbacks report it here."""

from dataclasses import dataclass, replace

from explorer.app.state import session
from explorer.core.errors import ExplorerError


@dataclass(frozen=True, slots=True)
class Messages:
    """page: told once, in the page's header. notices: as well, where nothing went wrong.
    upload: told beside the uploader of models until the next upload.
    """

    page: tuple[ExplorerError, ...] = ()
    notices: tuple[str, ...] = ()
    upload: ExplorerError | None = None


def report(error: ExplorerError) -> None:
    """Tell `error` once, on the page."""
    messages = session.load(Messages)
    session.save(replace(messages, page=(*messages.page, error.alone())))


def take() -> tuple[ExplorerError, ...]:
    """The reported errors, which are then no longer reported."""
    messages = session.load(Messages)
    session.save(replace(messages, page=()))
    return messages.page


def notify(sentence: str) -> None:
    """Tell `sentence` once, on the page."""
    messages = session.load(Messages)
    session.save(replace(messages, notices=(*messages.notices, sentence)))


def take_notices() -> tuple[str, ...]:
    """What was to be told, which then no longer is."""
    messages = session.load(Messages)
    session.save(replace(messages, notices=()))
    return messages.notices


def report_upload(error: ExplorerError | None) -> None:
    """Tell `error` beside the uploader of models; None = no longer tell one."""
    stored = error.alone() if error else None
    session.save(replace(session.load(Messages), upload=stored))


def upload_error() -> ExplorerError | None:
    """Why the last model or trace was not taken."""
    return session.load(Messages).upload
