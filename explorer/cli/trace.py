"""`trace`: run one text through a model, and write a page, a .trace file, a map or a summary."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.cli.common import add_languages, add_model, comma_list, opened, whole_number
from explorer.core.errors import ConfigError, FileError
from explorer.core.number_format import typed_number
from explorer.core.trace_size import FIT, Layers
from explorer.core.verbs import VERBS, form
from explorer.core.vocabulary import BYTE, shorten

if TYPE_CHECKING:
    from explorer.core.trace import Trace

_LAST_LAYER = 9_999  # of any model that a trace could hold
_IMAGES = (".svg", ".pdf", ".png")
_OF_MAP = ("site", "layer", "head")

_INTERVENTIONS = {
    verb.typed or word: f"{verb.help}: {form(word)}, such as {', '.join(map(repr, verb.examples))}"
    for word, verb in VERBS.items()
    if verb.help
}
"""Option → help; "--ablate cross.1.2" is the intervention "ablate cross.1.2"."""

_OLD_NAMES = {verb.typed: word for word, verb in VERBS.items() if verb.typed}
"""Old names of interventions, which links still have. The help does not list them."""


def add_parser(commands: Any) -> None:
    command = commands.add_parser("trace", help="trace one text to a page, a .trace file or a map")
    command.set_defaults(run_command=_trace)
    add_model(command)
    command.add_argument("text", help="the source, or the prompt of a decoder-only model")
    command.add_argument(
        "--pair", help="a second text, for an encoder that reads two, as BERT does"
    )
    command.add_argument(
        "--chat",
        action="store_true",
        help="the text is a user's message, of which the model's chat template makes a prompt",
    )
    command.add_argument("--system", help="with --chat: what the chat begins with, such as a role")
    add_languages(command)
    command.add_argument("--target", help="teacher forcing: the whole output is given")
    command.add_argument("--prefix", help="the beginning of the output is given")
    command.add_argument(
        "--pad-to", type=whole_number, help="run it in a batch padded to this length"
    )
    command.add_argument("--max-new-tokens", type=whole_number, help="the most tokens to decode")
    command.add_argument("--capture", default="pattern", help="pattern (default) or full")
    command.add_argument(
        "--layers",
        type=_layers,
        help="those to capture: 0-3,8, or fit for as many of the first ones as a trace may have",
    )
    command.add_argument(
        "--sites", type=comma_list, help="encoder, decoder, cross: those to capture"
    )
    command.add_argument(
        "--out",
        type=Path,
        help="x.html or x.trace, or a map as x.csv, x.svg, x.pdf or x.png; without it, a summary",
    )
    command.add_argument("--site", help="of the map: encoder, decoder or cross")
    command.add_argument("--layer", type=whole_number, help="of the map, from 0; without it, all")
    command.add_argument("--head", type=whole_number, help="of the map, from 0; without it, all")
    for verb, what in _INTERVENTIONS.items():
        given = {"action": "append", "default": [], "metavar": "WHAT", "dest": verb}
        command.add_argument(f"--{verb}", help=f"{what}; repeatable", **given)
        if verb in _OLD_NAMES:
            command.add_argument(f"--{_OLD_NAMES[verb]}", help=argparse.SUPPRESS, **given)


def _layers(text: str) -> Layers:
    """ "0-3,8" as numbers; "fit" is itself."""
    if text == FIT:
        return FIT
    numbers: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        start, end = typed_number(first), typed_number(last or first)
        if start is None or end is None or not start <= end <= _LAST_LAYER:
            raise argparse.ArgumentTypeError(
                f"write numbers up to {_LAST_LAYER}, like 0-3,8, or {FIT}, not {shorten(text)!r}"
            )
        numbers += range(start, end + 1)
    return numbers


def _trace(options: argparse.Namespace) -> int:
    from explorer.core.i18n import say
    from explorer.core.interventions import Interventions
    from explorer.core.trace import typed_separator
    from explorer.heads.metrics.evaluation_batches import task_sentences
    from explorer.heads.removal.counterfactuals import mean_outputs

    out: Path | None = options.out
    if out is not None and out.suffix not in (".html", ".trace", ".csv", *_IMAGES):
        raise FileError("bad_ending", name=out.name)
    of_map = [name for name in _OF_MAP if getattr(options, name) is not None]
    if of_map and (out is None or out.suffix == ".trace"):
        raise ConfigError(
            "only_with", name=of_map[0], needed="--out x.html, .csv, .svg, .pdf, .png"
        )
    if options.system is not None and not options.chat:
        raise ConfigError("only_with", name="system", needed="--chat")
    lines = [f"{verb} {what}" for verb in _INTERVENTIONS for what in getattr(options, verb)]
    interventions = Interventions.parse(lines)
    model = opened(options)
    means = None
    if interventions.needs_mean_outputs:
        means = mean_outputs(model, task_sentences(model, 256))
    trace = model.trace(
        **_given(options),
        target=options.target,
        prefix=options.prefix,
        pad_to=options.pad_to,
        max_new_tokens=options.max_new_tokens,
        capture=options.capture,
        layers=options.layers,
        sites=options.sites,
        means=means,
        **interventions.options(),
    )
    if separator := typed_separator(trace):
        print(f"note: {say('explore.note_separator', 'en', separator=separator)}", file=sys.stderr)
    if unknown := _read_in_bytes(trace.source_tokens):
        print(f"note: {say('explore.note_characters', characters=unknown)}", file=sys.stderr)
    if out is None:
        found = trace.predictions()
        if found.token.ne("").all():  # a table for each token: its predicted labels
            found = found[found.chosen]
        tables = [] if found.empty else [found.to_string(index=False)]
        print("\n\n".join([repr(trace), *tables, _checks(trace)]))
        return 0
    if out.suffix == ".trace":
        trace.save(out)
    elif out.suffix == ".html" and not of_map:
        trace.to_html(out)
    else:
        _write_map(trace, out, *(getattr(options, name) for name in _OF_MAP))
    print(f"{out}: {trace.facts.get('text', '')} → {trace.text}")
    return 0


def _write_map(
    trace: "Trace", out: Path, site: str | None, layer: int | None, head: int | None
) -> None:
    """Write the figure of one head or of several, or its numbers, by the ending of `out`."""
    from explorer.components.figures import figure
    from explorer.core.csv_text import csv_text
    from explorer.core.files import replace_atomically

    drawn = figure(trace, site, layer, head)
    if out.suffix == ".csv":
        one_head = drawn.table.index.name is not None  # the queries
        written = csv_text(drawn.table.reset_index(drop=not one_head)).encode()
    elif out.suffix == ".html":
        written = drawn.to_html().encode()
    else:
        written = drawn.to_image(out.suffix.removeprefix("."))
    replace_atomically(out, written)


def _read_in_bytes(tokens: Sequence[str]) -> str:
    """The characters without a piece, which a SentencePiece model reads in bytes, each once."""
    codes = map(BYTE.fullmatch, tokens)
    text = bytes(int(code[1], 16) if code else ord(" ") for code in codes)
    return " ".join(dict.fromkeys(text.decode("utf-8", errors="replace").split()))


def _checks(trace: "Trace") -> str:
    """The integrity checks, each with its result in words."""
    from explorer.core.i18n import say
    from explorer.core.interventions import expected_sentence

    checks = trace.integrity()
    results = [
        say(expected_sentence(row["check"], trace.facts))
        if row["expected"] and row["error"] > row["limit"]
        else ("ok" if row["ok"] else "failed")
        for row in checks.to_dict("records")
    ]
    return checks[["check", "error", "limit"]].assign(result=results).to_string(index=False)


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """The text, or the messages of a chat, as options of `trace`."""
    if not options.chat:
        return {"text": options.text, "pair": options.pair}
    roles = {"system": options.system, "user": options.text}
    messages = [{"role": role, "content": text} for role, text in roles.items() if text is not None]
    return {"messages": messages, "pair": options.pair}
