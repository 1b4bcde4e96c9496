"""`Trace`: the arrays captured in one run of a Transformer, as frozen NumPy arrays.

Everything on screen is drawn from a `Trace`; the model is not needed again.

Sites and their axes (rows are queries, columns are keys):

    encoder   self-attention of the source               (S, S)
    decoder   masked self-attention of the target        (T, T)
    cross     the target's queries over the source       (T, S)

Row t of the target is the token fed in at step t + 1; it predicts `predicted_tokens[t]`. Masks
are boolean, True = may attend.
"""

import hashlib
import io
import json
import os
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from explorer.core import page_writer
from explorer.core.errors import ExplorerError, TraceError
from explorer.core.files import as_path, read_bytes, replace_atomically, replacement
from explorer.core.interventions import expected_errors
from explorer.core.mask_reasons import REASONS, UNMASKED
from explorer.core.named_arrays import by_site
from explorer.core.predictions import prediction_in
from explorer.core.sites import SITES, sides
from explorer.core.trace_checks import check_arrays, check_texts, integrity_limits, weight_errors
from explorer.core.trace_file import LARGEST_FILE, largest_saved, pack, unpack
from explorer.core.trace_from_arrays import (
    is_half,
    labels,
    read_candidates,
    read_mask,
    read_weights,
    without_padding_rows,
)
from explorer.core.trace_size import SHARED_TRACE
from explorer.core.vocabulary import shorten

if TYPE_CHECKING:
    import pandas as pd

_THREADS = min(4, os.cpu_count() or 1)
"""Layers of a large trace whose checksums are computed at a time."""

_MOST_IN_A_CELL = 8 * 2**20
"""Bytes of attention of a trace that a cell of a notebook shows without being asked."""

_MOST_ROWS = 60  # of its table


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Trace:
    """One source, one target, and the attention of every head of every layer.

    A model with a decoder alone has no source; its target is the prompt, then the decoded tokens. A
    model with an encoder alone has no target; its "steps.…" have the candidates of the source
    positions with a mask token, as step = position + 1.

    source_tokens: S labels, the end of the sequence last, then padding, if any.
    target_tokens: T labels of the queries: the tokens fed in, beginning of sequence first.
    predicted_tokens: T labels, the token that follows each query; empty when unknown.
    text: the decoded output without specials.
    arrays: read-only, by name: "cross.attention" (layer, head, query, key) float32,
        "cross.closed" uint8 codes of `REASONS`, (query, key), (layer, 1, query, key) or (layer,
        head, query, key), "cross.sink" (layer, head, query) the weight that a query gives to no
        key, where the model has attention sinks,
        with full capture also "cross.scores" (layer, head, query, key), "cross.query_vectors" and
        "cross.head_output" (layer, head, query, width), "cross.key_vectors" and "cross.values"
        (layer, head, key, width), "cross.score_scale" (layer,) by which products of queries and
        keys are multiplied and, where a family has one, "cross.score_cap" (layer,), the largest
        score; of the models trained here the residual connection around the attention, too,
        "cross.input", "cross.sublayer_input", "cross.sublayer_output" and "cross.output" (layer,
        query, D), of the stack "decoder" (and "encoder") "decoder.feed_forward_hidden" (layer,
        query, d_ff), "decoder.feed_forward_output" and "decoder.layer_output" (layer, query, D),
        "decoder.token_vectors", "decoder.embedding" with positions, and "decoder.stack_output"
        (query, D), "logits" (T, V), and "early.id" and "early.probability" (layer, T, rank) of
        `early_predictions`; "steps.…" one entry for each candidate; "gold" (T, S),
        without a source (T, T), bool where the gold alignment is known; "predictions.…" one entry
        for each label of `predictions`, whose names are a fact.
    candidate_tokens: labels of the candidates in "steps.…".
    measured: the errors in `integrity` that only the model can measure, by name.
    facts: origin of the trace, JSON values only.
    digest: of the arrays and tokens when they were captured.

    Raises `TraceError` on parts that do not fit together.
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
        """The sites with attention, in the order of `SITES`."""
        return tuple(site for site in SITES if f"{site}.attention" in self.arrays)

    @property
    def gold(self) -> NDArray[np.bool_] | None:
        """The gold alignment (T, S), or of a decoder alone (T, T): True at the positions that the
        token predicted in row t comes from; None if unknown."""
        return self.arrays.get("gold")

    @property
    def gold_site(self) -> str:
        """The site whose weights are compared with the gold alignment."""
        return "cross" if self.source_tokens else "decoder"

    @property
    def losses(self) -> NDArray[np.float32]:
        """(T,) −ln probability of the token that follows each query; NaN where unknown."""
        losses = np.full(len(self.target_tokens), np.nan, dtype=np.float32)
        if "steps.chosen" in self.arrays and self.target_tokens:
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

    def query_vectors(self, site: str) -> NDArray[np.float32]:
        """Query vectors of each head, as used for its scores: (layer, head, query, width)."""
        return self._array(site, "query_vectors")

    def key_vectors(self, site: str) -> NDArray[np.float32]:
        """Key vectors of each head, as used for its scores: (layer, head, key, width)."""
        return self._array(site, "key_vectors")

    def values(self, site: str) -> NDArray[np.float32]:
        """The values of each head: (layer, head, key, head width)."""
        return self._array(site, "values")

    def head_output(self, site: str) -> NDArray[np.float32]:
        """The output of each head before the output projection: (layer, head, query, width)."""
        return self._array(site, "head_output")

    def closed(
        self, site: str, layer: int | None = None, head: int | None = None
    ) -> NDArray[np.uint8]:
        """Codes of `REASONS`, 0 = unmasked: (query, key).

        layer, head: only needed if the masks of layers or heads differ. Raises `TraceError` if one
            is needed and missing, and on a site or head that the trace does not have.
        """
        codes = self._array(site, "closed")
        if codes.ndim == 2:
            return codes
        by_head = codes.shape[1] > 1
        if layer is None or (by_head and head is None):
            raise TraceError("masks_differ", site=site)
        return codes[self._place(site, layer, head if by_head else 0)]

    def mask(
        self, site: str, layer: int | None = None, head: int | None = None
    ) -> NDArray[np.bool_]:
        """The mask (query, key), True = may attend; `layer` and `head` as in `closed`."""
        return self.closed(site, layer, head) == UNMASKED

    def mask_reason(
        self, site: str, layer: int | None = None, head: int | None = None
    ) -> NDArray[np.str_]:
        """The strings of `REASONS` (query, key), such as "later position"; "" = unmasked."""
        return np.array(REASONS)[self.closed(site, layer, head)]

    def layer_numbers(self, site: str) -> tuple[int, ...]:
        """The number of each layer in the model; in a hybrid not all layers have attention."""
        layers = len(self.attention(site))
        known = self.facts.get("layer_numbers")
        numbers = known.get(site) if isinstance(known, Mapping) else None
        if isinstance(numbers, list | tuple) and len(numbers) == layers:
            return tuple(numbers)
        return tuple(range(layers))

    def queries(self, site: str) -> tuple[str, ...]:
        """Labels of the rows of `site`. Raises `TraceError` on one that the trace does not have."""
        self._array(site, "attention")
        return sides(self.source_tokens, self.target_tokens)[site][0]

    def keys(self, site: str) -> tuple[str, ...]:
        """Labels of the columns of `site`; raises as `queries` does."""
        self._array(site, "attention")
        return sides(self.source_tokens, self.target_tokens)[site][1]

    def table(self, site: str, layer: int, head: int) -> "pd.DataFrame":
        """The weights of one head, rows and columns labelled "position token".

        Raises `TraceError` on a head that the trace does not have.
        """
        import pandas as pd

        return pd.DataFrame(
            self.attention(site)[self._place(site, layer, head)],
            index=_numbered(self.queries(site), "query"),
            columns=_numbered(self.keys(site), "key"),
        )

    def steps(self) -> "pd.DataFrame":
        """The candidates of every step, the most probable first.

        Columns: step (1 to T, that of row step − 1), rank (1 = most probable), token,
        probability, chosen (the token that follows), forced (set, not decoded), id. Each step
        has its ten most probable candidates and the chosen one, if that ranks lower.
        """
        import pandas as pd

        names = ("step", "rank", "probability", "chosen", "forced", "id")
        kinds = {"probability": "float32", "chosen": "bool", "forced": "bool"}
        columns = {
            name: self.arrays.get(f"steps.{name}", np.empty(0, dtype=kinds.get(name, "int64")))
            for name in names
        }
        frame = pd.DataFrame(columns)
        frame.insert(2, "token", list(self.candidate_tokens))
        return frame

    @property
    def label(self) -> str | None:
        """Prediction of a model without next-token output, as text.

        A class, several labels, a score, the tags of all tokens joined by spaces, or the text of a
        span. None for any other model: its output is `text`.
        """
        found = prediction_in(self.arrays, self.facts)
        return None if found is None else found.text

    def predictions(self) -> "pd.DataFrame":
        """Predictions of a model without next-token output: a class, a tag for each token, a span.

        Columns: start and stop, its first token and the one after its last; token, if it is about
        a single one; rank (1 = most probable); label, for a span its text; probability, NaN for a
        score without one; value, the logit; chosen (True for the model's prediction). Empty for
        any other model.
        """
        import pandas as pd

        found = prediction_in(self.arrays, self.facts)
        names = ["start", "stop", "rank", "value", "probability", "chosen"]
        columns = found.columns if found else {name: np.empty(0) for name in names}
        places = zip(columns["start"].tolist(), columns["stop"].tolist(), strict=True)
        tokens = self.source_tokens or self.target_tokens  # of a decoder alone
        alone = [tokens[one] if end - one == 1 else "" for one, end in places]
        frame = pd.DataFrame({name: columns[name] for name in names})
        labels = list(found.labels) if found else []
        return frame.assign(token=alone, label=labels)[
            ["start", "stop", "token", "rank", "label", "probability", "value", "chosen"]
        ]

    def early_predictions(self) -> "pd.DataFrame":
        """The most probable next tokens after each layer of the decoder, as if it were the last.

        Columns: layer, step, rank, token, probability, id. Raises `TraceError` on a trace without
        full capture of a decoder, and of a family of the library that has none.
        """
        import pandas as pd

        if "early.id" not in self.arrays:
            if "family" in self.facts and "decoder.scores" in self.arrays:
                raise TraceError("no_early_predictions", family=self.facts["family"])
            raise TraceError("not_captured", kind="early predictions", site="decoder")
        ids, tokens = self.arrays["early.id"], self.facts["early_tokens"]
        site = "decoder" if "decoder" in self.sites else "cross"
        numbers = self.layer_numbers(site)
        rows = [
            (
                numbers[layer],
                step + 1,
                rank + 1,
                tokens[layer][step][rank],
                float(self.arrays["early.probability"][layer, step, rank]),
                int(ids[layer, step, rank]),
            )
            for layer, step, rank in np.ndindex(ids.shape)
        ]
        columns = ["layer", "step", "rank", "token", "probability", "id"]
        return pd.DataFrame(rows, columns=columns)

    def integrity(self) -> "pd.DataFrame":
        """Measured errors, one row a check: check, error, limit, ok, expected.

        Row sums, weights on masked cells and the digest are measured now, on these arrays; the
        other errors were measured by the model, as differences of logits; there is no row for
        what was not measured, see `check` of `trace`. expected: an intervention makes this error
        unavoidable, so it counts as ok.
        """
        import pandas as pd

        errors = {
            **self.measured,
            **weight_errors(self.arrays, self.sites),
            "unchanged_since_capture": float(_digest(self) != self.digest),
        }
        expected = expected_errors(self.facts)
        rows = [
            (name, errors[name], limit, bool(errors[name] <= limit) or name in expected)
            for name, limit in integrity_limits(self.facts).items()
            if name in errors
        ]
        frame = pd.DataFrame(rows, columns=["check", "error", "limit", "ok"])
        return frame.assign(expected=frame.check.isin(expected))

    def save(self, path: str | Path) -> None:
        """Write a file that `load` reads back exactly. Raises `FileError`."""
        with replacement(as_path(path)) as file:
            pack(file, self.arrays, self._header)

    def to_bytes(self) -> bytes:
        """The contents of a `.trace` file."""
        file = io.BytesIO()
        pack(file, self.arrays, self._header)
        return file.getvalue()

    @property
    def _header(self) -> dict[str, Any]:
        """All of a `.trace` file but the arrays."""
        return {
            "source_tokens": self.source_tokens,
            "target_tokens": self.target_tokens,
            "predicted_tokens": self.predicted_tokens,
            "text": self.text,
            "candidate_tokens": self.candidate_tokens,
            "measured": dict(self.measured),
            "facts": dict(self.facts),
            "digest": self.digest,
        }

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The trace in a file that `save` wrote, or in an .npz of attention by name, see `named` of
        `from_arrays`. Raises `FileError`, and `TraceError` when the file holds none.

        Executes nothing from the file.
        """
        path = as_path(path)
        most = largest_saved()
        return cls.from_bytes(read_bytes(path, most), name=path.name, limit=most)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "trace", limit: int = LARGEST_FILE) -> Self:
        """The trace in the bytes of a `.trace` or .npz file called `name`. Raises `TraceError`.

        limit: bytes to which the file may unfold.
        """
        try:
            arrays, header = unpack(data, name, limit)
            if not header:
                return cls.from_arrays(**by_site(arrays, name))
            tokens = ("source_tokens", "target_tokens", "predicted_tokens", "candidate_tokens")
            header |= {key: tuple(header[key]) for key in tokens}
            return cls(arrays=arrays, **header)
        except TraceError:
            raise
        except Exception as error:  # malformed archives raise many exception types
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
        named: Mapping[str, Any] | None = None,
        masks: Mapping[str, Any] | None = None,
        predicted_tokens: Sequence[object] = (),
        candidates: Sequence[Sequence[tuple[object, float]]] = (),
    ) -> Self:
        """A trace of any model's attention; every site is optional.

        source_tokens: not needed for a model that only has a decoder; `target_tokens` not for
            one that only has an encoder.
        encoder, decoder, cross: weights (layer, head, query, key), or one array a layer, as a list
            or a mapping in the order of the numbers in its names; a batch axis of length 1 is
            dropped. NumPy arrays or tensors of any library.
        named: in place of these, arrays by names that say site and layer, as "decoder_layer_0",
            "cross" or those of `np.savez`; those called `source_tokens`, `target_tokens` and
            `predicted_tokens` are the labels.
        masks: by site (query, key), (layer, 1, query, key) or (layer, head, query, key), or a
            list with one for each layer: True = may attend, strings of `REASONS`, or the additive
            masks of most libraries, 0 where a query may attend and −10,000 or less where not.
            Without one, no cell is masked except the later positions of a decoder if all their
            weights are exactly 0. A query that may attend to no key is padding; the weights of its
            row are meaningless and are set to 0.
        candidates: for each target token, (token, probability) of some tokens that may follow it,
            the predicted one among them.

        Raises `TraceError` on parts that do not fit together.
        """
        if not isinstance(masks, Mapping | None):
            raise TraceError("no_masks", got=type(masks).__name__)
        if named is not None:
            parts = by_site(named, "named")
            source_tokens = source_tokens or parts.pop("source_tokens", ())
            target_tokens = target_tokens or parts.pop("target_tokens", ())
            predicted_tokens = predicted_tokens or parts.pop("predicted_tokens", ())
            encoder, decoder, cross = (
                parts.get(site) if given is None else given
                for site, given in zip(SITES, (encoder, decoder, cross), strict=True)
            )
        given = {"encoder": encoder, "decoder": decoder, "cross": cross}
        sites = {site: weights for site, weights in given.items() if weights is not None}
        for site in masks or {}:
            if site not in sites:
                raise TraceError("unknown_site", site=site, sites=", ".join(sites))
        arrays: dict[str, NDArray[Any]] = {}
        for site, weights in sites.items():
            array = read_weights(site, weights)
            codes = read_mask(site, (masks or {}).get(site), array)
            arrays[f"{site}.attention"] = without_padding_rows(array, codes)
            arrays[f"{site}.closed"] = codes
        steps, candidate_tokens = read_candidates(candidates, labels(predicted_tokens))
        half = any(is_half(weights) for weights in sites.values())
        return cls(
            source_tokens=labels(source_tokens),
            target_tokens=labels(target_tokens),
            predicted_tokens=labels(predicted_tokens),
            text=" ".join(labels(predicted_tokens)),
            arrays=arrays | steps,
            candidate_tokens=candidate_tokens,
            facts={"precision": "half"} if half else {},
        )

    def to_html(self, path: str | Path, language: str = "en") -> None:
        """Write the stepping player as one file that opens offline in any browser.

        Raises `FileError` when it cannot be written, and `TraceError` on an unknown language.
        """
        replace_atomically(as_path(path), page_writer.html_page(self, language).encode())

    def __repr__(self) -> str:
        shapes = ", ".join(f"{site} {self.attention(site).shape}" for site in self.sites)
        model = f"{shorten(str(self.facts['model']))}: " if "model" in self.facts else ""
        source = " ".join(self.source_tokens) or " ".join(self.target_tokens)
        shown = str(self.facts.get("text", source))
        return f"Trace({model}{shorten(shown)!r} → {shorten(self.text)!r}; {shapes})"

    def _repr_html_(self) -> str:
        """The player, for a notebook; of a large trace, a table of its tokens."""
        if sum(self.attention(site).nbytes for site in self.sites) <= _MOST_IN_A_CELL:
            return page_writer.cell_html(self)
        import pandas as pd

        sides = {
            "source": self.source_tokens,
            "target": self.target_tokens,
            "predicted": self.predicted_tokens,
        }
        columns = {name: pd.Series(tokens, dtype=object) for name, tokens in sides.items()}
        return pd.DataFrame(columns).to_html(na_rep="", max_rows=_MOST_ROWS)

    def _check(self) -> None:
        """Raise `TraceError` unless all parts are valid and fit together."""
        steps = len(self.target_tokens)
        if not self.sites:
            raise TraceError("no_attention")
        if self.predicted_tokens and len(self.predicted_tokens) != steps:
            raise TraceError("predictions_differ", got=len(self.predicted_tokens), expected=steps)
        sizes = len(self.source_tokens), steps, len(self.candidate_tokens)
        check_arrays(self.arrays, self.facts, self.sites, *sizes)
        texts = (self.source_tokens, self.target_tokens, self.predicted_tokens)
        check_texts((*texts, self.candidate_tokens), self.text, self.measured, self.facts)

    def _array(self, site: str, kind: str) -> NDArray[Any]:
        array = self.arrays.get(f"{site}.{kind}")
        if array is not None:
            return array
        if not isinstance(site, str) or site not in self.sites:
            raise TraceError("unknown_site", site=site, sites=", ".join(self.sites))
        raise TraceError("not_captured", kind=kind, site=site)

    def _place(self, site: str, layer: int, head: int | None) -> tuple[int, int]:
        """The index of a head in the arrays of a site. Raises `TraceError` on one outside."""
        layers, heads = self.attention(site).shape[:2]
        if head is not None and is_index(layer, layers) and is_index(head, heads):
            return layer, head
        refuse_no_number(TraceError, layer=layer, head=head)
        name = f"{site}.{layer}.{head}"
        raise TraceError("no_such_head", head=name, site=site, layers=layers, heads=heads)


def is_index(value: object, size: int) -> bool:
    """Whether `value` is a number from 0 below `size`."""
    return isinstance(value, Integral) and not isinstance(value, bool) and value in range(size)


def refuse_no_number(error: type[ExplorerError], **given: object) -> None:
    """Raise `error` if an index, given by its name, is not a number."""
    for name, value in given.items():
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise error("no_whole_number", name=name, got=repr(value), least=0)


def check_trace(value: object) -> None:
    """Raise `TraceError` unless `value` is a trace."""
    if not isinstance(value, Trace):
        raise TraceError("not_a_trace", got=type(value).__name__)


def second_text(trace: Trace) -> int | None:
    """Position of the first source token of the second of two texts that an encoder reads together.

    None if there is one text. Special tokens before it belong to the first text.
    """
    second = trace.facts.get("second")
    if isinstance(second, bool) or not isinstance(second, int):
        return None
    return second if 0 < second < len(trace.source_tokens) else None


def typed_separator(trace: Trace) -> str:
    """A separator typed inside a single text; "" if there is none.

    Only for a model that distinguishes two texts: it reads both sides of the separator as the first
    text.
    """
    separator = trace.facts.get("separator")
    if not isinstance(separator, str) or second_text(trace) is not None:
        return ""
    return separator if trace.source_tokens.count(separator) > 1 else ""


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    """`array` itself if it is read-only, else a read-only copy."""
    if array.flags.writeable:
        array = np.array(array, order="C")
        array.flags.writeable = False
    return array


def _numbered(tokens: Sequence[str], name: str) -> "pd.Index[str]":
    import pandas as pd

    return pd.Index([f"{position} {token}" for position, token in enumerate(tokens)], name=name)


def _digest(trace: Trace) -> str:
    """A hash of everything a trace shows."""
    hasher = hashlib.blake2b(digest_size=16)
    tokens = (trace.source_tokens, trace.target_tokens, trace.predicted_tokens)
    # Of traces that are checked once, it does not depend on which text was the first.
    measured = {} if trace.facts.get("check") == "once" else dict(trace.measured)
    texts = [*tokens, trace.candidate_tokens, trace.text, measured, dict(trace.facts)]
    hasher.update(json.dumps(texts, sort_keys=True).encode())
    for name in sorted(trace.arrays):
        array = trace.arrays[name]
        hasher.update(f"{name}{array.shape}{array.dtype.str}".encode())
        if array.nbytes > SHARED_TRACE:  # in no older file, whose digest is over the whole array
            with ThreadPoolExecutor(_THREADS) as pool:
                hasher.update(json.dumps([*pool.map(_checksum, array)]).encode())
        else:
            hasher.update(np.ascontiguousarray(array).data)
    return hasher.hexdigest()


def _checksum(layer: NDArray[Any]) -> int:
    """Of a layer of hundreds of MB, in a quarter of the time of a hash."""
    return zlib.crc32(np.ascontiguousarray(layer).data)
