"""`start` and `class`: start the app, for one person or for a class on the local network."""

import argparse
import os
import sys
from pathlib import Path
from typing import Any


def add_parser(commands: Any) -> None:
    command = commands.add_parser("start", help="start the app (the default)")
    command.set_defaults(run_command=start)
    _add_options(command)
    command = commands.add_parser("class", help="start the app for a class on the local network")
    command.set_defaults(run_command=_start_class)
    _add_options(command)
    command.add_argument("--address", default="", help="to listen on (default: all addresses)")
    command.add_argument(
        "--name", default="", help="by which guests open the app (default: the address)"
    )
    command.add_argument(
        "--guests",
        type=int,
        metavar="N",
        help="pages, votes and curves that one network address may have, such as a school's "
        "(default: 150 pages and votes, 30 curves)",
    )
    command.add_argument(
        "--new-key",
        action="store_true",
        help="begin anew: the browser that led the last class on this port is a guest's",
    )


def _add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--port", type=int, help="default: the first free one from 8501 on")
    command.add_argument(
        "--models",
        type=Path,
        nargs="+",
        default=[],
        metavar="DIR",
        help="list the models of the library transformers in and below these folders",
    )
    command.add_argument(
        "--lessons",
        type=Path,
        nargs="+",
        default=[],
        metavar="DIR",
        help="list the lessons in these folders beside those that ship",
    )


def start(options: argparse.Namespace) -> int:
    from explorer.app.server import launch

    _name_folders(options.models)
    _name_lessons(options.lessons)
    return launch.serve_alone(options.port)


def _start_class(options: argparse.Namespace) -> int:
    from explorer.app.server import launch

    _name_folders(options.models)
    _name_lessons(options.lessons)
    return launch.serve_class(
        options.port,
        options.address,
        options.name,
        new_key=options.new_key,
        guests=options.guests,
    )


def _name_folders(paths: list[Path]) -> None:
    """Let the server of this process list the models in these folders. Print which folders have
    none.

    Raises `ModelDirectoryError`.
    """
    from explorer.core import folders
    from explorer.core.errors import ModelDirectoryError
    from explorer.model.directory_search import find_directories

    for path in paths:
        if not path.is_dir():
            key = "not_a_folder" if path.exists() else "no_directory"
            raise ModelDirectoryError(key, name=str(path))
        if os.pathsep in str(path.absolute()):
            raise ModelDirectoryError("bad_folder_name", name=str(path), sign=os.pathsep)
        if not find_directories([path.absolute()]):
            print(ModelDirectoryError("no_models_below", name=str(path)), file=sys.stderr)
    if paths:
        names = os.pathsep.join(str(path.absolute()) for path in paths)
        os.environ[folders.MODELS_VARIABLE] = names


def _name_lessons(paths: list[Path]) -> None:
    """Let the server of this process list the lessons in these folders. Print which files are none.

    Raises `LessonError`.
    """
    from explorer.core import folders
    from explorer.core.errors import LessonError
    from explorer.core.lesson import find_lessons, lesson_files

    for path in paths:
        if not path.is_dir():
            raise LessonError("no_folder", name=str(path))
        if os.pathsep in str(path.absolute()):
            raise LessonError("bad_folder_name", name=str(path), sign=os.pathsep)
        found = find_lessons(lesson_files([path]))
        if not found.lessons and not found.broken:
            print(LessonError("empty_folder", name=str(path)), file=sys.stderr)
        for broken in found.broken:
            print(broken, file=sys.stderr)
    if paths:
        names = os.pathsep.join(str(path.absolute()) for path in paths)
        os.environ[folders.LESSONS_VARIABLE] = names
