"""The package as `pip install .` leaves it: in an environment and a folder of its own."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import explorer
from tests.support.app_server import free_port, wait_for

ROOT = Path(__file__).parents[1]

LARGEST_WHEEL = 60_000_000
"""Bytes; most of them are the weights of the translators and of the language model."""


@dataclass(frozen=True)
class Installed:
    """An environment with the package, and a folder outside the repository to work in.

    wheel: the file that it was installed from.
    """

    wheel: Path
    package: Path
    scripts: Path
    work: Path

    def run(self, *command: str) -> str:
        """The output of a program of the environment; the test fails when the program does."""
        done = subprocess.run(
            [str(self.scripts / command[0]), *command[1:]],
            cwd=self.work,
            env=environment(),
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def python(self, code: str) -> str:
        return self.run("python", "-c", code).strip()


def environment(**more: str) -> dict[str, str]:
    """This process's environment without what would lead back into the repository."""
    own = ("EXPLORER_", "PYTHONPATH", "STREAMLIT_")
    return {name: value for name, value in os.environ.items() if not name.startswith(own)} | more


def files_below(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of the last change of every file below `folder`."""
    return {
        str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Iterator[Installed]:
    """A wheel built and installed; the dependencies are those of this environment.

    The package is read-only, and at the end nothing below it has changed.
    """
    base = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(base), str(ROOT)]
    subprocess.run([*pip, *build], check=True, cwd=base)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", base / "venv"], check=True)
    scripts = base / "venv" / ("Scripts" if os.name == "nt" else "bin")
    asked = [
        str(scripts / "python"),
        "-c",
        "import sysconfig; print(sysconfig.get_path('purelib'))",
    ]
    site = Path(subprocess.check_output(asked, text=True).strip())
    (wheel,) = base.glob("*.whl")
    subprocess.run(
        [*pip, "--python", str(scripts / "python"), "install", "--no-deps", str(wheel)],
        check=True,
        cwd=base,
    )
    (site / "dependencies.pth").write_text(f"{Path(pytest.__file__).parents[1]}\n")
    package, work = site / "explorer", base / "work"
    work.mkdir()
    for path in [package, *package.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)
    before = files_below(package)
    yield Installed(wheel, package, scripts, work)
    assert files_below(package) == before
    for path in [package, *package.rglob("*")]:  # so that the folder can be removed
        path.chmod(path.stat().st_mode | 0o200)


def test_the_package_that_answers_is_the_installed_one(installed):
    found = installed.python("import explorer; print(explorer.__file__, explorer.__version__)")
    path, version = found.rsplit(maxsplit=1)
    assert Path(path).parent.samefile(installed.package)
    assert version == explorer.__version__
    assert installed.run("attention-explorer", "--version").split()[1] == version
    code = "from importlib.metadata import version; print(version('attention-explorer'))"
    assert installed.python(code) == version


def test_the_wheel_is_not_too_large(installed):
    assert installed.wheel.stat().st_size <= LARGEST_WHEEL


def test_the_command_has_every_subcommand(installed):
    usage = installed.run("attention-explorer", "--help")
    assert usage.startswith("usage: attention-explorer ")
    for command in ("start", "class", "train", "trace", "measure", "align", "translate", "runs"):
        assert re.search(rf"^ +{command}\s", usage, re.MULTILINE)


@pytest.mark.parametrize(
    "name",
    [
        "py.typed",
        "app/main.css",
        "app/icon.svg",
        "components/bundles/components.js",
        "components/bundles/player.css",
        "strings/player.toml",
        "lessons/query-and-key.en.md",
        "checkpoints/README.md",
    ],
)
def test_data_files_are_inside(installed, name):
    assert (installed.package / name).is_file()


def test_what_only_development_needs_is_not_inside(installed):
    names = {path.name for path in (installed.package / "components").rglob("*")}
    assert not {"js", "css", "node_modules", "package.json", "bundle.ts", ".npmrc"} & names


def test_every_checkpoint_and_report_is_inside(installed):
    shipped = {name: size for name, (size, _) in files_below(ROOT / "checkpoints").items()}
    inside = files_below(installed.package / "checkpoints")
    assert {name: size for name, (size, _) in inside.items()} == shipped


def test_the_settings_are_those_of_the_repository_in_any_folder(installed):
    """A folder's own settings and a visitor's do not open the app to the network."""
    foreign = installed.work / ".streamlit"
    foreign.mkdir()
    (foreign / "config.toml").write_text('[server]\naddress = "0.0.0.0"\nmaxUploadSize = 9999\n')
    code = (
        "import json; from streamlit import config; from explorer.app.server import launch; "
        "config._main_script_path = str(launch.entry_script()); "
        "print(json.dumps({name: config.get_option(name) for name in json.loads({!r})}))"
    )
    wanted = flat(tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf-8")))
    code = code.replace("{!r}", repr(json.dumps(list(wanted))))
    assert json.loads(installed.python(code)) == wanted
    shutil.rmtree(foreign)


def flat(table: dict, prefix: str = "") -> dict[str, object]:
    """Options by their dotted names."""
    options: dict[str, object] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            options |= flat(value, f"{prefix}{name}.")
        else:
            options[f"{prefix}{name}"] = value
    return options


@contextmanager
def serving(installed: Installed, *arguments: str, **given: str) -> Iterator[int]:
    """The installed command serving the app on a free port, until the block ends."""
    port = free_port()
    more = {name: value.format(port=port) for name, value in given.items()}
    server = subprocess.Popen(
        [str(installed.scripts / "attention-explorer"), *(a.format(port=port) for a in arguments)],
        cwd=installed.work,
        env=environment(STREAMLIT_SERVER_HEADLESS="true", **more),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health", server)
        yield port
    finally:
        server.terminate()
        server.wait(timeout=60)


def answers_beyond_loopback(port: int) -> bool:
    """Whether the server is bound to all addresses: then it answers on 127.0.0.2 too."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.2", port)) == 0


@pytest.mark.parametrize(
    ("arguments", "given"),
    [(["start", "--port", "{port}"], {}), ([], {"STREAMLIT_SERVER_PORT": "{port}"})],
)
def test_start_answers_on_its_port_and_on_the_loopback_address_alone(installed, arguments, given):
    with serving(installed, *arguments, **given) as port:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/plotly.min.js") as answer:
            assert answer.headers["content-type"].startswith("text/javascript")
        assert not answers_beyond_loopback(port)


@pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 is an own address on Linux alone")
def test_class_answers_on_every_address(installed):
    with serving(installed, "class", "--port", "{port}") as port:
        assert answers_beyond_loopback(port)


def test_trace_writes_a_page(installed):
    checkpoint = installed.package / "checkpoints" / "reverse.safetensors"
    said = installed.run(
        "attention-explorer", "trace", str(checkpoint), "7 3 9 1 4", "--out", "reverse.html"
    )
    assert "4 1 9 3 7" in said
    assert "Plotly" in (installed.work / "reverse.html").read_text(encoding="utf-8")


def test_the_first_page_offers_every_shipped_model(installed):
    code = """
import json
from streamlit.testing.v1 import AppTest
from explorer.app import asgi
app = AppTest.from_file(str(asgi.MAIN), default_timeout=60).run()
assert not app.exception, app.exception
mounted = [element.proto for element in app.get("bidi_component")]
data = next(one.bytes for one in mounted if one.component_name == "attention_explore")
print(json.dumps(json.loads(data)["models"]))
"""
    models = json.loads(installed.python(code).splitlines()[-1])
    assert len(models) == len(list((ROOT / "checkpoints").glob("*.safetensors")))


def test_a_training_is_recorded_in_the_current_folder(installed):
    code = """
import time
from dataclasses import replace
from explorer.jobs import training_launcher
from explorer.training.config import quick_demo
tiny = dict(steps=2, evaluate_every=1, longest=2, d_model=16, d_ff=16)
run = training_launcher.start(replace(quick_demo("copy", on_gpu=False), **tiny))
while run.active:
    time.sleep(0.1)
print(run.folder, run.status().state)
"""
    folder, state = installed.python(code).rsplit(maxsplit=1)
    assert state == "done"
    assert Path(folder).parent.samefile(installed.work / "runs")


def test_head_reports_go_to_the_current_folder_or_where_the_variable_says(installed):
    code = "from explorer.core import folders; print(folders.reports())"
    assert Path(installed.python(code)) == (installed.work / "findings").resolve()
