"""`convert`: make a checkpoint of a file of weights alone."""

import argparse
from pathlib import Path
from typing import Any


def add_parser(commands: Any) -> None:
    command = commands.add_parser("convert", help="make a checkpoint of a .pt file of weights")
    command.set_defaults(run_command=_convert)
    command.add_argument("weights", type=Path, help="a file of torch.save(model.state_dict(), …)")
    command.add_argument(
        "--like",
        required=True,
        metavar="MODEL",
        help="a checkpoint of the same sizes and vocabularies, or the name of a model that ships",
    )
    command.add_argument("--out", type=Path, required=True, metavar="FILE", help="to write")


def _convert(options: argparse.Namespace) -> int:
    from explorer.core.errors import CheckpointError
    from explorer.core.files import check_output
    from explorer.model.checkpoint import save_checkpoint
    from explorer.model.explorable import ExplorableModel
    from explorer.model.opening import load
    from explorer.model.state_dict import from_state_dict

    check_output(options.out, inputs=[options.weights, options.like])
    like = load(options.like)
    if not isinstance(like, ExplorableModel):
        raise CheckpointError("like_directory", name=like.name)
    save_checkpoint(from_state_dict(options.weights, like), options.out)
    print(f"{options.out}: the weights of {options.weights}; trace {options.out} opens it")
    return 0
