"""Messages for the page's next run, reported by callbacks."""

from dataclasses import dataclass, replace

from explorer.app.state import session
from explorer.core.errors import ExplorerError


@dataclass(frozen=True, slots=True)
class Messages:
    """page: errors shown once, in the page's header. notices: other sentences shown there once.
    upload: error shown beside the uploader of models until the next upload.
    """

    page: tuple[ExplorerError, ...] = ()
    notices: tuple[str, ...] = ()
    upload: ExplorerError | None = None


def report(error: ExplorerError) -> None:
    """Show `error` once, on the page."""
    messages = session.load(Messages)
    session.save(replace(messages, page=(*messages.page, error.alone())))


def take() -> tuple[ExplorerError, ...]:
    """Return the reported errors, and clear them."""
    messages = session.load(Messages)
    session.save(replace(messages, page=()))
    return messages.page


def notify(sentence: str) -> None:
    """Show `sentence` once, on the page."""
    messages = session.load(Messages)
    session.save(replace(messages, notices=(*messages.notices, sentence)))


def take_notices() -> tuple[str, ...]:
    """Return the pending notices, and clear them."""
    messages = session.load(Messages)
    session.save(replace(messages, notices=()))
    return messages.notices


def report_upload(error: ExplorerError | None) -> None:
    """Show `error` beside the uploader of models; None = show none any more."""
    stored = error.alone() if error else None
    session.save(replace(session.load(Messages), upload=stored))


def upload_error() -> ExplorerError | None:
    """Why the last uploaded model or trace was refused."""
    return session.load(Messages).upload
