"""`translate`: the greedy translations of a file of texts, as pairs to read or to train on."""

import argparse
from pathlib import Path
from typing import Any

_AT_A_TIME = 1024  # texts; what is shown of the progress


def add_parser(commands: Any) -> None:
    command = commands.add_parser("translate", help="translate a file of texts")
    command.set_defaults(run_command=_translate)
    command.add_argument("checkpoint", type=Path, help="of a translator")
    command.add_argument(
        "texts", type=Path, help="a text a line, or column 1 of a table (tabs, .csv)"
    )
    command.add_argument(
        "--out",
        type=Path,
        required=True,
        help="the table to write: text, translation, a row for each distinct text, short ones "
        "first; for `train --further-pairs` of a model in the other direction. Texts that the "
        "model has no room for are left out, and counted",
    )


def _translate(options: argparse.Namespace) -> int:
    from tqdm import tqdm

    from explorer.core.files import refuse_unwritable, write_atomically
    from explorer.data.parallel_corpus import read_sources
    from explorer.model.checkpoint import load_checkpoint
    from explorer.training.translation_metrics import translate

    refuse_unwritable(options.out)
    checkpoint = load_checkpoint(options.checkpoint)
    model, source, target = (
        checkpoint.model,
        checkpoint.source_vocabulary,
        checkpoint.target_vocabulary,
    )
    texts = list(dict.fromkeys(read_sources(options.texts)))
    room = model.config.max_length - 1  # the end symbol takes one
    fitting = [text for text in texts if len(source.encode(text)) <= room]
    fitting.sort(key=len)  # texts of one length are decoded together
    lines = []
    for start in tqdm(range(0, len(fitting), _AT_A_TIME), unit_scale=_AT_A_TIME, unit="text"):
        part = fitting[start : start + _AT_A_TIME]
        for text, written in zip(part, translate(model, source, target, part), strict=True):
            lines.append(f"{text}\t{' '.join(written.split())}\n")
    write_atomically(options.out, "".join(lines).encode())
    left_out = len(texts) - len(fitting)
    print(f"{options.out}: {len(lines)} texts, {left_out} too long for the model left out")
    return 0
