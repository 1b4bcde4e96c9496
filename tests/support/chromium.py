"""Find a Chromium for the browser tests, or install one; run as a script, it does the latter."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    """The path of a Chromium: $CHROMIUM, one on the PATH, or Playwright's own."""
    named = os.environ.get("CHROMIUM")
    found = named or next(filter(None, map(shutil.which, NAMES)), None)
    return found or _playwrights_own()


def _playwrights_own() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def install_chromium() -> None:
    """Install one: by apt where that is allowed, else Playwright's own."""
    if shutil.which("apt-get") and os.geteuid() == 0:
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        update = subprocess.run(["apt-get", "update", "-qq"], env=quiet)
        command = ["apt-get", "install", "-y", "-qq", "chromium", "fonts-noto-cjk"]
        if update.returncode == 0 and subprocess.run(command, env=quiet).returncode == 0:
            return
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)


if __name__ == "__main__":
    if find_chromium() is None:
        install_chromium()
    chromium = find_chromium()
    if chromium is None:
        sys.exit("No Chromium could be installed; put one on the PATH or name it in $CHROMIUM.")
    print(f"Chromium: {chromium}")
