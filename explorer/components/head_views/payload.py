"""What the gallery's rooms eat: a header in JSON, and after it runs of bytes.

    uint32, little endian      length of the header, a multiple of 4
    header                     JSON, UTF-8, padded with spaces; "parts": name → [start, length]
    parts                      each at a multiple of 4 bytes: the player's payloads, and arrays

A field is a number a cell that is no weight: a difference, or a norm. It travels as float32.
"""

import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from explorer.components.player import View, payload
from explorer.core.i18n import section
from explorer.core.trace import Trace
from explorer.heads.head_report import HeadReport
from explorer.heads.roles import ROLES
from explorer.heads.trace_comparison import TraceComparison

Field = Mapping[str, NDArray[np.float32]]
"""By site, (layer, head, query, key)."""


def overview(
    trace: Trace,
    findings: HeadReport | None,
    *,
    language: str = "en",
    view: View | None = None,
    norms: Field | None = None,
) -> bytes:
    """Every head of `trace`, with what was found of it on a batch, if anything was.

    norms: drawn in the place of the weights, and beside them.
    """
    header = {
        "room": "overview",
        "heads": _heads(findings) if findings else {},
        "metrics": findings.metrics if findings else (),
        "roles": tuple(ROLES),
    }
    parts = {"trace": payload(trace, language=language, view=view)}
    return _packed(header, parts, {"norms": norms or {}}, language)


def twin(contrast: TraceComparison, *, language: str = "en", view: View | None = None) -> bytes:
    """A text as it is, as it becomes, and the difference on the tokens of the former."""
    parts = {
        name: payload(trace, language=language, view=view)
        for name, trace in (("original", contrast.original), ("changed", contrast.changed))
    }
    fields = {"difference": {site: contrast.map(site) for site in contrast.original.sites}}
    return _packed({"room": "twin"}, parts, fields, language)


def matrix(findings: HeadReport, *, language: str = "en") -> bytes:
    """Every metric of every head, by layer and head."""
    header = {
        "room": "matrix",
        "heads": _heads(findings),
        "metrics": findings.metrics,
        "level": findings.facts.get("level"),
    }
    return _packed(header, {}, {}, language)


def _heads(findings: HeadReport) -> dict[str, list[dict[str, Any]]]:
    """By site, its heads in order: layer, head, metrics as [mean, low, high], roles."""
    found: dict[str, list[dict[str, Any]]] = {}
    evidence = findings.roles.set_index(["site", "layer", "head"])
    for row in findings.heads.to_dict("records"):
        key = (row["site"], row["layer"], row["head"])
        roles = evidence.loc[[key]].to_dict("records") if key in evidence.index else []
        scores = {one["role"]: one["score"] for one in roles if not one["doubt"]}
        found.setdefault(str(row["site"]), []).append(
            {
                "layer": int(row["layer"]),
                "head": int(row["head"]),
                "metrics": {
                    name: [row[name], row[f"{name}_low"], row[f"{name}_high"]]
                    for name in findings.metrics
                },
                "offset": row.get("positional_offset"),
                "roles": [one["role"] for one in roles if one["holds"]],
                "scores": scores,
            }
        )
    return found


def _packed(
    header: dict[str, Any],
    parts: Mapping[str, bytes],
    fields: Mapping[str, Field],
    language: str,
) -> bytes:
    """Header and parts; the fields as parts of their own, called "difference.cross"."""
    runs = dict(parts)
    for name, field in fields.items():
        for site, values in field.items():
            runs[f"{name}.{site}"] = np.ascontiguousarray(values, dtype="<f4").tobytes()
    places, body = {}, b""
    for name, run in runs.items():
        places[name] = (len(body), len(run))
        body += run + b"\0" * (-len(run) % 4)
    header |= {
        "language": language,
        "strings": section("heads", language),
        "role_strings": section("roles", language),
        "player": section("player", language),
        "parts": places,
    }
    text = json.dumps(_finite(header), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    head = text.encode("utf-8", errors="replace")
    head += b" " * (-len(head) % 4)
    return struct.pack("<I", len(head)) + head + body


def _finite(value: Any) -> Any:
    """`value` with null for every number JSON has no word for."""
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
