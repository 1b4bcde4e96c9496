"""What an exported page holds of the inside of a trace: as much as fits, what is open first."""

from collections.abc import Iterator
from typing import Protocol

from explorer.components.inside.head_vectors import head_vectors
from explorer.components.inside.omission import omission
from explorer.components.inside.token_path import has_token_path, token_path
from explorer.core.errors import ExplorerError
from explorer.core.interventions import OMISSIONS
from explorer.core.trace import Trace


class CaptureLayer(Protocol):
    """Captures one layer of a trace on screen again."""

    def __call__(self, site: str, layer: int, without: tuple[str, ...] = ()) -> Trace | None:
        """A trace of one layer of an attention path alone, with full capture.

        layer: its index among those of the trace on screen.
        without: parts of the model to leave out, of `OMISSIONS`; its text is then decoded anew.

        None where the model is no longer in memory. Raises `ExplorerError`.
        """


def page_parts(
    trace: Trace, capture: CaptureLayer, site: str, layer: int, head: int, *, opened: bool
) -> Iterator[tuple[str, bytes]]:
    """Payloads compressed with gzip by their name, the address that the app serves them at: the
    vectors of a head, the path of tokens through its layer, the head without a part of the model,
    the predictions after the other layers, and the other heads of its layer.

    opened: whether the panel is open; only then the model decodes without its parts.

    Ends early where a layer cannot be captured.
    """
    try:
        captured = capture(site, layer)
        if captured is None:
            return
        yield f"{site}/{layer}/{head}", head_vectors(captured, site, 0, head)
        if has_token_path(trace):
            yield f"{site}/{layer}", token_path(captured, site)
            yield from _other_parts(trace, capture, site, layer, head, opened)
        for other in range(trace.attention(site).shape[1]):
            if other != head:
                yield f"{site}/{layer}/{other}", head_vectors(captured, site, 0, other)
    except ExplorerError:  # as of a trace that would be too large
        return


def _other_parts(
    trace: Trace, capture: CaptureLayer, site: str, layer: int, head: int, opened: bool
) -> Iterator[tuple[str, bytes]]:
    """The head without each part of the model, and the paths through the other layers."""
    for part in OMISSIONS if opened else ():
        if (without := capture(site, layer, (part,))) is not None:
            yield f"{site}/{layer}/{head}/without/{part}", omission(without, site, head)
    for other in range(trace.attention(site).shape[0]) if site != "encoder" else ():
        if other != layer and (captured := capture(site, other)) is not None:
            yield f"{site}/{other}", token_path(captured, site)
