"""Draw docs/explorer.gif, the moving picture at the top of the README, from the running app.

    python docs/moving_picture.py

It needs what `make test` installs. Every frame is a screenshot of the app; only the line below is
written by this script.
"""

import io
import sys
from collections.abc import Iterator
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import Page, expect

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.browser import chromium  # noqa: E402
from tests.support.app_server import running_app  # noqa: E402

OUT = ROOT / "docs" / "explorer.gif"
VIEW = {"width": 1120, "height": 700}
SIZE = (960, 600)
LINE = 36  # pixels below a frame, for what it shows
COLOURS = 96
LARGEST = 3_000_000  # bytes
PATIENCE = 60_000  # ms
TRANSLATOR = "?model=english-french&text=My+black+cat+sleeps+on+the+old+chair.&site=cross"

Frame = tuple[bytes, float, str]
"""A screenshot, for how many seconds it stands, and the line below it."""


def frames(tab: Page, address: str) -> Iterator[Frame]:
    """The scenes, one after another."""
    tab.goto(f"{address}{TRANSLATOR}&step=1&ahead=0")
    expect(tab.get_by_test_id("step-count")).to_be_visible(timeout=PATIENCE)
    tab.locator(".plotted").first.wait_for(timeout=PATIENCE)
    yield from decoding(tab)
    yield from forcing(tab)
    yield from inside(tab)
    yield from heads(tab, address)
    yield from training(tab, address)


def decoding(tab: Page) -> Iterator[Frame]:
    said = "Step through decoding: where each head looks, and what comes next"
    yield shot(tab), 1.8, said
    for _ in range(6):
        tab.get_by_test_id("next").click()
        yield shot(tab), 0.8, said


def forcing(tab: Page) -> Iterator[Frame]:
    said = "Choose another token: decoding continues from there"
    tab.get_by_test_id("candidates").get_by_role("button").nth(1).click()
    expect(tab.get_by_test_id("forced").first).to_be_visible(timeout=PATIENCE)
    for _ in range(2):
        yield shot(tab), 0.8, said
        tab.get_by_test_id("next").click()
    yield shot(tab), 0.8, said


def inside(tab: Page) -> Iterator[Frame]:
    said = "Click a cell: its weight is computed, number by number"
    tab.keyboard.press("i")
    expect(tab.get_by_test_id("inside-sentence")).to_be_visible(timeout=PATIENCE)
    yield shot(tab), 3.0, said


def heads(tab: Page, address: str) -> Iterator[Frame]:
    tab.goto(f"{address}heads?model=reverse&text=7+3+9+1+4&site=cross")
    tab.locator(".plotted").first.wait_for(timeout=PATIENCE)
    yield shot(tab), 2.4, "All heads of a model, with the role of each"


def training(tab: Page, address: str) -> Iterator[Frame]:
    said = "Train: watch the heads form"
    tab.goto(f"{address}train")
    expect(tab.get_by_test_id("moment-count")).to_be_visible(timeout=PATIENCE)
    tab.locator(".plotted").first.wait_for(timeout=PATIENCE)
    for moment in (1, 6, 9, 11, 13, 15, 18, 22, 27, 33, 40):
        tab.get_by_test_id("moment").fill(str(moment))
        yield shot(tab), 0.35 if moment < 40 else 1.4, said


def shot(tab: Page) -> bytes:
    tab.wait_for_timeout(700)  # the next frame is painted, and no tooltip is fading
    return tab.screenshot()


def drawn(frame: Frame) -> Image.Image:
    """A frame with its line below."""
    pixels, _, said = frame
    picture = Image.new("RGB", (SIZE[0], SIZE[1] + LINE), "#14477f")
    picture.paste(Image.open(io.BytesIO(pixels)).convert("RGB").resize(SIZE, Image.LANCZOS))
    font = ImageFont.load_default(20)
    middle = (SIZE[0] / 2, SIZE[1] + LINE / 2)
    ImageDraw.Draw(picture).text(middle, said, fill="white", font=font, anchor="mm")
    return picture.quantize(COLOURS, dither=Image.Dither.NONE)


def main() -> None:
    with running_app() as address, chromium() as browser:
        context = browser.new_context(viewport=VIEW, color_scheme="light")
        context.add_init_script("localStorage.setItem('attention-lesson-offered', '')")
        shown = list(frames(context.new_page(), address))
    first, *others = map(drawn, shown)
    lasting = [round(1000 * seconds) for _, seconds, _ in shown]
    first.save(OUT, save_all=True, append_images=others, duration=lasting, loop=0, optimize=True)
    size = OUT.stat().st_size
    print(f"{OUT.name}: {len(shown)} frames, {sum(lasting) / 1000:.1f} s, {size / 1e6:.2f} MB")
    if size > LARGEST:
        sys.exit(f"More than {LARGEST / 1e6:.0f} MB: use fewer frames or colours.")


if __name__ == "__main__":
    main()
