"""Find the browser of the tests, or install it; run as a script, it does the latter.

`BROWSER=firefox` or `webkit` names another engine than Chromium. Of these two the tests take
Playwright's own build; `FIREFOX=PATH` names a Firefox as Mozilla or a distribution builds it.
Playwright hears of no download there, and cuts off a page but not its service worker: tests of
these fail.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserType, Playwright, sync_playwright

ENGINE = os.environ.get("BROWSER", "chromium")

RETURNING = (
    "try { localStorage.setItem('attention-lesson-offered', '');"
    " localStorage.setItem('attention-everything', '');"
    " localStorage.setItem('attention-played', ''); } catch {}"
)
"""JavaScript for a context whose visitor returns: everything is shown, the first lesson was offered
and the picture has played."""

_CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")


def engine(playwright: Playwright) -> BrowserType:
    """The engine that `BROWSER` names."""
    engines = (playwright.chromium, playwright.firefox, playwright.webkit)
    named = {one.name: one for one in engines}
    if ENGINE not in named:
        sys.exit(f"BROWSER is one of {', '.join(named)}, not {ENGINE}.")
    return named[ENGINE]


def launch_options() -> dict[str, Any]:
    """What Playwright needs to know to start the browser; without a path it takes its own."""
    if ENGINE == "chromium":
        return {"executable_path": _systems_chromium(), "args": list(_ARGUMENTS)}
    if ENGINE == "firefox" and (path := os.environ.get("FIREFOX")):
        return {"executable_path": path, "channel": "moz-firefox"}
    return {}


def launch(playwright: Playwright) -> Browser:
    """The browser of the tests, without a window."""
    return engine(playwright).launch(**launch_options())


def is_installed() -> bool:
    if launch_options().get("executable_path"):
        return True
    with sync_playwright() as playwright:
        return Path(engine(playwright).executable_path).exists()


def _systems_chromium() -> str | None:
    """The path of a Chromium: $CHROMIUM, else one on the PATH."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _CHROMIUMS)), None)


def install() -> None:
    """Install it: Chromium by apt where that is allowed, else Playwright's own build."""
    if ENGINE == "chromium" and shutil.which("apt-get") and os.geteuid() == 0:
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        update = subprocess.run(["apt-get", "update", "-qq"], env=quiet)
        command = ["apt-get", "install", "-y", "-qq", "chromium", "fonts-noto-cjk"]
        if update.returncode == 0 and subprocess.run(command, env=quiet).returncode == 0:
            return
    libraries = () if ENGINE == "chromium" or sys.platform != "linux" else ("--with-deps",)
    command = [sys.executable, "-m", "playwright", "install", *libraries, ENGINE]
    subprocess.run(command, check=True)


if __name__ == "__main__":
    if not is_installed():
        install()
    if not is_installed():
        sys.exit(
            f"{ENGINE} could not be installed. A Chromium on the PATH or in $CHROMIUM will do."
        )
    print(f"Browser of the tests: {ENGINE}")
