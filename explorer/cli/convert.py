"""`convert`: make a checkpoint from a file of weights alone."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorer.model.checkpoint import Checkpoint


def add_parser(commands: Any) -> None:
    command = commands.add_parser("convert", help="make a checkpoint of a .pt file of weights")
    command.set_defaults(run_command=_convert)
    command.add_argument("weights", type=Path, help="a file of torch.save(model.state_dict(), …)")
    of = command.add_mutually_exclusive_group(required=True)
    of.add_argument(
        "--like",
        metavar="MODEL",
        help="a checkpoint of the same sizes and vocabularies, or the name of a model that ships",
    )
    of.add_argument(
        "--layout",
        help="weights of a tutorial's own class: annotated, w_q or d2l; needs --heads, --specials",
    )
    command.add_argument("--heads", type=int, help="with --layout: heads of each layer")
    command.add_argument(
        "--specials",
        type=int,
        nargs=3,
        metavar=("PADDING", "START", "END"),
        help="with --layout: ids of padding, start and end of a sequence",
    )
    command.add_argument(
        "--vocabulary",
        type=Path,
        metavar="FILE",
        help="with --layout: the token of each id, one a line; without it texts are ids",
    )
    command.add_argument(
        "--target-vocabulary", type=Path, metavar="FILE", help="where it is not that of the source"
    )
    command.add_argument("--out", type=Path, required=True, metavar="FILE", help="to write")


def _convert(options: argparse.Namespace) -> int:
    from explorer.core.files import check_output
    from explorer.model.checkpoint import save_checkpoint

    vocabularies = (options.vocabulary, options.target_vocabulary)
    check_output(options.out, inputs=[options.weights, options.like, *vocabularies])
    checkpoint = _like(options) if options.layout is None else _imported(options)
    save_checkpoint(checkpoint, options.out)
    print(f"{options.out}: the weights of {options.weights}; trace {options.out} opens it")
    return 0


def _like(options: argparse.Namespace) -> "Checkpoint":
    from explorer.core.errors import CheckpointError
    from explorer.model.explorable import ExplorableModel
    from explorer.model.opening import load
    from explorer.model.state_dict import from_state_dict

    like = load(options.like)
    if not isinstance(like, ExplorableModel):
        raise CheckpointError("like_directory", name=like.name)
    return from_state_dict(options.weights, like)


def _imported(options: argparse.Namespace) -> "Checkpoint":
    from explorer.model.foreign_state_dict import from_foreign_state_dict

    return from_foreign_state_dict(
        options.weights,
        options.layout,
        heads=options.heads,
        specials=options.specials,
        vocabulary=options.vocabulary,
        target_vocabulary=options.target_vocabulary,
    )
