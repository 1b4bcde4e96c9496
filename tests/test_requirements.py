"""The locks name every package that is installed, in one version, with hashes."""

import re
from importlib.metadata import PackageNotFoundError, requires
from itertools import combinations
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCKS = ["requirements.lock", "torch.lock", "tests/requirements.lock"]
TORCH = re.compile(r"torch|triton|nvidia-.*|cuda-.*")


def read(name: str) -> list[Requirement]:
    """The requirements of a file, without their hashes."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    named = (line.removesuffix("\\").strip() for line in lines if re.match(r"[a-z]", line))
    return [Requirement(line) for line in named]


def here(requirement: Requirement) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


def locked(*names: str) -> dict[str, str]:
    """The version of each package on this Python and system."""
    return {
        canonicalize_name(one.name): str(one.specifier)
        for name in names
        for one in read(name)
        if here(one)
    }


@pytest.mark.parametrize("name", ["requirements", "tests/requirements"])
def test_a_lock_has_the_versions_that_were_asked_for(name):
    chosen = locked(*LOCKS)
    for asked in filter(here, read(f"{name}.txt")):
        assert chosen[canonicalize_name(asked.name)] == str(asked.specifier), "run `make lock`"


def test_the_locks_name_everything_that_these_packages_require():
    chosen = locked(*LOCKS)
    missing = set()
    for name in chosen:
        try:
            needed = [Requirement(text) for text in requires(name) or ()]
        except PackageNotFoundError:  # such as a part of CUDA
            continue
        missing |= {canonicalize_name(one.name) for one in needed if here(one)} - chosen.keys()
    assert missing == set()


def test_packages_in_two_locks_have_one_version():
    names = ["requirements.lock", "tests/requirements.lock", "tests/mutants.lock"]
    for one, other in combinations(map(locked, names), 2):
        both = one.keys() & other
        assert {name: one[name] for name in both} == {name: other[name] for name in both}


@pytest.mark.parametrize("name", [*LOCKS, "tests/mutants.lock"])
def test_a_lock_names_no_index(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not re.search(r"://|index-url|find-links|trusted-host", text)


@pytest.mark.parametrize("name", ["requirements.lock", "tests/requirements.lock"])
def test_every_package_has_a_hash_and_torch_is_apart(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[a-z])", text)
    assert len(entries) == len(read(name)) > 30
    assert all("--hash=sha256:" in entry for entry in entries)
    assert not [one.name for one in read(name) if TORCH.fullmatch(one.name)]


def test_torch_is_pinned_with_what_it_brings():
    text = (ROOT / "torch.lock").read_text(encoding="utf-8")
    assert "--hash" not in text  # a CPU build that is already installed stays
    assert all(TORCH.fullmatch(one.name) for one in read("torch.lock"))
    assert {"torch", "triton"} <= {one.name for one in read("torch.lock")}
