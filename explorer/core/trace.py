"""`Trace`: everything one run of a Transformer showed us, frozen, as NumPy arrays.

Whatever a person sees is drawn from a `Trace`; nothing downstream needs the model again.

Sites and their axes (rows are queries, columns are keys):

    encoder   self-attention of the source               (S, S)
    decoder   masked self-attention of the target        (T, T)
    cross     the target's queries over the source       (T, S)

Row t of the target is the token fed in at step t + 1; what it predicts is
`predicted_tokens[t]`. Masks are boolean, True = may attend.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from explorer.core.errors import TraceError
from explorer.core.interventions import SITES as SITES
from explorer.core.interventions import expected_errors
from explorer.core.mask_reasons import OPEN, REASONS
from explorer.core.trace_file import LARGEST_FILE, pack, unpack
from explorer.core.trace_from_arrays import is_half, read_mask, read_weights, words
from explorer.core.trace_validation import check_gold, check_site, check_steps, check_words

if TYPE_CHECKING:
    import pandas as pd

_LIMITS = {  # the largest error a sound trace shows, float32 throughout
    "rows_sum_to_one": 1e-5,
    "closed_cells_are_zero": 0.0,
    "hooked_equals_plain": 1e-4,
    "cached_equals_full": 1e-4,
    "padding_changes_nothing": 1e-4,
    "unchanged_since_capture": 0.0,
}

_HALF_ROW_SUM = 1e-2  # what rounding each weight to bfloat16 may add up to


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One source, one target, and what every head of every layer attended to.

    source_tokens: S labels, end of sequence last, padding after it when padded.
    target_tokens: T labels of the queries, beginning of sequence first: what was fed in.
    predicted_tokens: T labels, what took the place after each query; empty when unknown.
    text: the decoded output, specials dropped.
    arrays: read-only, by name: "cross.attention" (layer, head, query, key) float32,
        "cross.closed" (query, key) or (layer, head, query, key) uint8 codes of `REASONS`,
        with full capture also "cross.scores", "cross.values" (layer, head, key, width) and
        "cross.head_output" (layer, head, query, width); "steps.…" one entry a candidate;
        "gold" (T, S) bool where the right alignment is known.
    candidate_tokens: labels of the candidates in "steps.…".
    measured: errors only the model could measure, by the names of `integrity`.
    facts: where the trace comes from, JSON values only.
    digest: of the arrays and tokens as they were captured.
    """

    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]
    predicted_tokens: tuple[str, ...]
    text: str
    arrays: Mapping[str, NDArray[Any]]
    candidate_tokens: tuple[str, ...] = ()
    measured: Mapping[str, float] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""

    def __post_init__(self) -> None:
        arrays = {name: _frozen(array) for name, array in self.arrays.items()}
        object.__setattr__(self, "arrays", MappingProxyType(arrays))
        object.__setattr__(self, "measured", MappingProxyType(dict(self.measured)))
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))
        self._check()
        if not self.digest:
            object.__setattr__(self, "digest", _digest(self))

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites this trace holds."""
        return tuple(site for site in SITES if f"{site}.attention" in self.arrays)

    @property
    def gold(self) -> NDArray[np.bool_] | None:
        """(T, S) True where the right answer comes from; None when nobody knows."""
        return self.arrays.get("gold")

    @property
    def losses(self) -> NDArray[np.float32]:
        """(T,) −ln probability of the token that took each place; NaN where not known."""
        losses = np.full(len(self.target_tokens), np.nan, dtype=np.float32)
        if "steps.chosen" in self.arrays:
            chosen = self.arrays["steps.chosen"]
            rows = self.arrays["steps.step"][chosen] - 1
            tiny = np.finfo(np.float32).tiny
            losses[rows] = -np.log(np.maximum(self.arrays["steps.probability"][chosen], tiny))
        return losses

    def attention(self, site: str) -> NDArray[np.float32]:
        """Weights after softmax, before dropout: (layer, head, query, key)."""
        return self._array(site, "attention")

    def scores(self, site: str) -> NDArray[np.float32]:
        """Scores after scaling, before the mask: (layer, head, query, key)."""
        return self._array(site, "scores")

    def values(self, site: str) -> NDArray[np.float32]:
        """Values each head mixes: (layer, head, key, head width)."""
        return self._array(site, "values")

    def head_output(self, site: str) -> NDArray[np.float32]:
        """What each head hands to the output projection: (layer, head, query, head width)."""
        return self._array(site, "head_output")

    def closed(
        self, site: str, layer: int | None = None, head: int | None = None
    ) -> NDArray[np.uint8]:
        """Codes of `REASONS`, 0 = open: (query, key).

        Where the heads' masks differ, name `layer` and `head`. Raises `TraceError` else.
        """
        closed = self._array(site, "closed")
        if closed.ndim == 2:
            return closed
        if layer is None or head is None:
            raise TraceError("masks_differ", site=site)
        return closed[layer, head]

    def mask(
        self, site: str, layer: int | None = None, head: int | None = None
    ) -> NDArray[np.bool_]:
        """(query, key), True = may attend. `layer` and `head` as in `closed`."""
        return self.closed(site, layer, head) == OPEN

    def mask_reason(
        self, site: str, layer: int | None = None, head: int | None = None
    ) -> NDArray[np.str_]:
        """(query, key) strings: "", "later position", "padding" or "edited"."""
        return np.array(REASONS)[self.closed(site, layer, head)]

    def queries(self, site: str) -> tuple[str, ...]:
        """Labels of the rows of `site`."""
        return self.source_tokens if site == "encoder" else self.target_tokens

    def keys(self, site: str) -> tuple[str, ...]:
        """Labels of the columns of `site`."""
        return self.target_tokens if site == "decoder" else self.source_tokens

    def table(self, site: str, layer: int, head: int) -> "pd.DataFrame":
        """One head's weights, rows and columns labelled "position token"."""
        import pandas as pd

        return pd.DataFrame(
            self.attention(site)[layer, head],
            index=_numbered(self.queries(site), "query"),
            columns=_numbered(self.keys(site), "key"),
        )

    def steps(self) -> "pd.DataFrame":
        """The candidates of every step, best first.

        Columns: step (1..T, row step − 1), rank (1 = most probable), token, probability,
        chosen (took the place), forced (chosen by a person, not by the model), id. The ten
        best of each step, and the chosen one with its true rank where that is below them.
        """
        import pandas as pd

        names = ("step", "rank", "probability", "chosen", "forced", "id")
        empty = np.empty(0, dtype=np.int64)
        columns = {name: self.arrays.get(f"steps.{name}", empty) for name in names}
        frame = pd.DataFrame(columns)
        frame.insert(2, "token", list(self.candidate_tokens))
        return frame

    def integrity(self) -> "pd.DataFrame":
        """Measured errors, one row a check: check, error, limit, ok, expected.

        Row sums, closed cells and the digest are measured now, on the arrays as they are;
        the other errors were measured by the model, as differences of logits. `expected`: an
        intervention makes this difference unavoidable, so it is not held against the trace.
        """
        import pandas as pd

        errors = {
            **self.measured,
            "rows_sum_to_one": self._worst_row_sum(),
            "closed_cells_are_zero": self._worst_closed_cell(),
            "unchanged_since_capture": float(_digest(self) != self.digest),
        }
        expected = expected_errors(self.facts)
        rows = [
            (name, errors[name], limit, bool(errors[name] <= limit) or name in expected)
            for name, limit in self._limits().items()
            if name in errors
        ]
        frame = pd.DataFrame(rows, columns=["check", "error", "limit", "ok"])
        return frame.assign(expected=frame.check.isin(expected))

    def save(self, path: str | Path) -> None:
        """Write one file that `load` reads back exactly. Raises `TraceError` without room."""
        _write(Path(path), self.to_bytes())

    def to_bytes(self) -> bytes:
        """The contents of a `.trace` file."""
        header = {
            "source_tokens": self.source_tokens,
            "target_tokens": self.target_tokens,
            "predicted_tokens": self.predicted_tokens,
            "text": self.text,
            "candidate_tokens": self.candidate_tokens,
            "measured": dict(self.measured),
            "facts": dict(self.facts),
            "digest": self.digest,
        }
        return pack(self.arrays, header)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The trace in a file. Raises `TraceError` when it holds none. Runs no code."""
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise TraceError("unreadable_file", name=Path(path).name) from error
        return cls.from_bytes(data, name=Path(path).name)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "trace", limit: int = LARGEST_FILE) -> Self:
        """The trace in the bytes of a `.trace` file called `name`; see `load`.

        limit: bytes to which the file may unfold; it is looked at before it does.
        """
        try:
            arrays, header = unpack(data, name, limit)
            tokens = ("source_tokens", "target_tokens", "predicted_tokens", "candidate_tokens")
            header |= {key: tuple(header[key]) for key in tokens}
            return cls(arrays=arrays, **header)
        except TraceError:
            raise
        except Exception as error:  # a forged archive fails in as many ways as there are forgers
            raise TraceError("no_trace", name=name) from error

    @classmethod
    def from_arrays(
        cls,
        source_tokens: Sequence[object] = (),
        target_tokens: Sequence[object] = (),
        *,
        encoder: Any = None,
        decoder: Any = None,
        cross: Any = None,
        masks: Mapping[str, Any] | None = None,
        predicted_tokens: Sequence[object] = (),
    ) -> Self:
        """A trace of any model's attention; every site is optional.

        source_tokens: not needed for a model that only has a decoder; `target_tokens` not for
            one that only has an encoder.
        encoder, decoder, cross: weights (layer, head, query, key), or one array a layer; a
            batch axis of length 1 is dropped. NumPy arrays or tensors of any library.
        masks: by site, True = may attend, or words of `REASONS`. Without a mask every cell
            counts as open, except in a decoder whose later positions all weigh exactly 0.

        Raises `TraceError` on what does not fit together.
        """
        given = {"encoder": encoder, "decoder": decoder, "cross": cross}
        sites = {site: weights for site, weights in given.items() if weights is not None}
        for site in masks or {}:
            if site not in sites:
                raise TraceError("unknown_site", site=site, sites=", ".join(sites))
        arrays: dict[str, NDArray[Any]] = {}
        for site, weights in sites.items():
            array = read_weights(site, weights)
            arrays[f"{site}.attention"] = array
            arrays[f"{site}.closed"] = read_mask(site, (masks or {}).get(site), array)
        half = any(is_half(weights) for weights in sites.values())
        return cls(
            source_tokens=words(source_tokens),
            target_tokens=words(target_tokens),
            predicted_tokens=words(predicted_tokens),
            text=" ".join(words(predicted_tokens)),
            arrays=arrays,
            facts={"precision": "half"} if half else {},
        )

    def to_html(self, path: str | Path, language: str = "en") -> None:
        """Write the stepping player as one file that opens offline in any browser.

        Raises `TraceError` when it cannot be written.
        """
        # The one upward import: whoever holds a trace can export it in one call.
        from explorer.components.html_export import html_page

        _write(Path(path), html_page(self, language).encode())

    def __repr__(self) -> str:
        shapes = ", ".join(f"{site} {self.attention(site).shape}" for site in self.sites)
        return f"Trace({' '.join(self.source_tokens)!r} → {self.text!r}: {shapes})"

    def _check(self) -> None:
        """Raise `TraceError` unless every part is what it should be and fits the others."""
        steps = len(self.target_tokens)
        if not self.sites:
            raise TraceError("no_attention")
        if self.predicted_tokens and len(self.predicted_tokens) != steps:
            raise TraceError("predictions_differ", got=len(self.predicted_tokens), expected=steps)
        for site in self.sites:
            check_site(self.arrays, site, len(self.queries(site)), len(self.keys(site)))
        check_gold(self.arrays, steps, len(self.source_tokens))
        check_steps(self.arrays, len(self.candidate_tokens), steps)
        spoken = (self.source_tokens, self.target_tokens, self.predicted_tokens)
        tokens = (*spoken, self.candidate_tokens)
        check_words(tokens, self.text, self.measured, self.facts)

    def _array(self, site: str, kind: str) -> NDArray[Any]:
        array = self.arrays.get(f"{site}.{kind}")
        if array is not None:
            return array
        if site not in self.sites:
            raise TraceError("unknown_site", site=site, sites=", ".join(self.sites))
        raise TraceError("not_captured", kind=kind, site=site)

    def _limits(self) -> dict[str, float]:
        half = self.facts.get("precision") == "half"
        return _LIMITS | {"rows_sum_to_one": _HALF_ROW_SUM} if half else _LIMITS

    def _worst_row_sum(self) -> float:
        sums = [self.attention(site).sum(-1, dtype=np.float64) for site in self.sites]
        return max((float(np.abs(s - 1).max(initial=0)) for s in sums), default=0.0)

    def _worst_closed_cell(self) -> float:
        worst = 0.0
        for site in self.sites:
            weights, closed = self.attention(site), self._array(site, "closed") != OPEN
            worst = max(worst, float(np.abs(weights * closed).max(initial=0)))
        return worst


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise TraceError("unwritable_file", name=path.name, reason=reason) from error


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """`array` itself if nobody can write to it, else a copy nobody can write to."""
    if array.flags.writeable:
        array = np.array(array, order="C")
        array.flags.writeable = False
    return array


def _numbered(tokens: Sequence[str], name: str) -> "pd.Index[str]":
    import pandas as pd

    return pd.Index([f"{place} {token}" for place, token in enumerate(tokens)], name=name)


def _digest(trace: Trace) -> str:
    """A fingerprint of all that is shown."""
    hasher = hashlib.blake2b(digest_size=16)
    tokens = (trace.source_tokens, trace.target_tokens, trace.predicted_tokens)
    said = [*tokens, trace.candidate_tokens, trace.text, dict(trace.measured), dict(trace.facts)]
    hasher.update(json.dumps(said, sort_keys=True).encode())
    for name in sorted(trace.arrays):
        array = trace.arrays[name]
        hasher.update(f"{name}{array.shape}{array.dtype.str}".encode())
        hasher.update(np.ascontiguousarray(array).data)
    return hasher.hexdigest()
