"""What a release publishes, as `.ci/release` writes it."""

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

from explorer import __version__

ROOT = Path(__file__).parents[1]


def release(out: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(ROOT / ".ci" / "release"), str(out), "--models", "reverse"]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_release_has_the_package_its_source_and_the_site_with_their_checksums(tmp_path):
    out = tmp_path / "dist"
    done = release(out)
    assert done.returncode == 0, done.stderr
    lines = (out / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert set(sums) == {
        "attention-explorer-site.zip",
        f"attention_explorer-{__version__}-py3-none-any.whl",
        f"attention_explorer-{__version__}.tar.gz",
    }
    for name, digest in sums.items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest
    assert {file.name for file in out.iterdir()} == {*sums, "SHA256SUMS"}
    with zipfile.ZipFile(out / "attention-explorer-site.zip") as site:
        assert {"site/index.html", "site/models/reverse.js"} <= set(site.namelist())
        assert sum(file.file_size for file in site.infolist()) <= 60_000_000


def test_a_folder_that_exists_is_not_written_over(tmp_path):
    done = release(tmp_path)
    assert done.returncode == 1
    assert "exists: name a new folder" in done.stderr
    assert not list(tmp_path.iterdir())


def test_the_citation_names_the_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation
