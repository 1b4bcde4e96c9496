"""The training replay in a page of its own, with a fake host that sends it runs."""

import base64
import json
import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, Route, expect

from explorer.components.bundle import styles
from explorer.components.html_export import html_page
from explorer.components.player.payload import player_payload
from explorer.components.training_replay.payload import replay_payload
from explorer.core.trace import Trace
from explorer.jobs import training_launcher
from tests.support.example_traces import example_trace
from tests.support.player_page import EMBEDDED, entry_script, with_script

ADDRESS = "http://replay.test/"
SVG = "{http://www.w3.org/2000/svg}"
PAGE = """<script type="module">
{script}
{embedded}
window.explorerPlotly = embeddedPlotly();
const sheet = document.createElement("style");
sheet.textContent = {styles};
document.head.append(sheet);
window.send = (text) => entry({{ parentElement: document.getElementById("player"),
  data: Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)) }});
</script>
"""


def run_data(moments: int, *, key: str = "runs/one@1", going: bool = True) -> dict[str, Any]:
    """The recorded run as if it were a live one at its first moments."""
    run = training_launcher.find("recorded", "reverse")
    content = json.loads(replay_payload("recorded/reverse", run))
    content["moments"] = content["moments"][:moments]
    content["key"] = key
    content["report"] |= {"going": going, "state": "training" if going else "done"}
    return content


def send(tab: Page, run: dict[str, Any]) -> None:
    tab.evaluate("(text) => { send(text); }", base64.b64encode(json.dumps(run).encode()).decode())


def sharpest(run: dict[str, Any]) -> str:
    """The head with the largest gold weight at the newest moment."""
    gold = run["moments"][-1]["gold"]
    weights = {(one, two): w for one, row in enumerate(gold) for two, w in enumerate(row)}
    layer, head = max(weights, key=lambda place: weights[place])
    return f"L{layer} H{head}"


@pytest.fixture
def replay(new_tab: Callable[..., Page]) -> tuple[Page, list[str]]:
    """A page, and the beginnings of the addresses whose probe traces never arrive."""
    tab, missing = new_tab(), list[str]()
    run = training_launcher.find("recorded", "reverse")
    page = PAGE.format(
        script=entry_script("training_replay"),
        embedded=EMBEDDED,
        styles=repr(styles("training_replay")),
    )
    html = with_script(html_page(example_trace()), page)
    html = re.sub(r"<meta http-equiv=.Content-Security-Policy.[^>]*>", "", html)  # it fetches

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(ADDRESS).split("?")[0]
        if not path:
            route.fulfill(body=html, content_type="text/html")
        elif not any(path.startswith(one) for one in missing):
            step = int(path.rsplit("/", 1)[-1])
            trace = Trace.load(run.probe_path(step))
            route.fulfill(body=player_payload(trace, language=None))

    tab.route(f"{ADDRESS}**", answer)
    tab.goto(ADDRESS)
    tab.wait_for_function("() => Boolean(window.send)")
    return tab, missing


def test_a_live_training_shows_its_sharpest_head_until_one_is_chosen(replay) -> None:
    tab, _ = replay
    title, note = tab.get_by_test_id("map-title"), tab.get_by_test_id("sharpest")
    followed = set()
    for moments in (1, 8, 20, 40):
        run = run_data(moments)
        send(tab, run)
        head = sharpest(run)
        expect(title).to_have_text(f"Cross · {head}")
        expect(note).to_have_text(f"following the sharpest head: {head}")
        followed.add(head)
    assert len(followed) > 1
    other = next(name for name in ("0-0", "0-1") if head != f"L{name[0]} H{name[2]}")
    tab.get_by_test_id(f"head-{other}").click()
    expect(note).to_be_empty()
    send(tab, run_data(8))
    expect(tab.get_by_test_id("moment-count")).to_contain_text("8/8")
    expect(title).to_have_text(f"Cross · L{other[0]} H{other[2]}")
    send(tab, run_data(20, key="runs/two@2"))
    expect(note).to_contain_text(sharpest(run_data(20)))


def test_a_click_on_the_head_that_is_followed_keeps_it(replay) -> None:
    tab, _ = replay
    first, last = run_data(12), run_data(40)
    assert sharpest(first) != sharpest(last)
    send(tab, first)
    name = sharpest(first)
    expect(tab.get_by_test_id("map-title")).to_have_text(f"Cross · {name}")
    tab.locator(f".head-key [aria-label^='{name}']").click()
    expect(tab.get_by_test_id("sharpest")).to_be_empty()
    send(tab, last)
    expect(tab.get_by_test_id("moment-count")).to_contain_text("40/40")
    expect(tab.get_by_test_id("map-title")).to_have_text(f"Cross · {name}")


def test_a_past_moment_shows_its_own_sharpest_head_until_one_is_chosen(replay) -> None:
    tab, _ = replay
    run = run_data(40, going=False)
    title, sentence = tab.get_by_test_id("map-title"), tab.get_by_test_id("moment-sentence")
    send(tab, run)
    last, first = sharpest(run), sharpest(run_data(1))
    assert first != last
    for name, key in ((last, None), (first, "Home"), (last, "End")):
        if key:
            tab.get_by_test_id("training-replay").press(key)
        expect(title).to_have_text(f"Cross · {name}")
        expect(sentence).to_contain_text(f"; {name} puts")
    other = next(name for name in ("0-0", "0-1") if last != f"L{name[0]} H{name[2]}")
    tab.get_by_test_id(f"head-{other}").click()
    expect(sentence).to_contain_text(f"; L{other[0]} H{other[2]} puts")
    tab.get_by_test_id("training-replay").press("Home")
    expect(title).to_have_text(f"Cross · L{other[0]} H{other[2]}")
    expect(sentence).to_contain_text(f"; L{other[0]} H{other[2]} puts")


def test_the_picture_of_the_previous_run_is_not_shown_for_another(replay) -> None:
    tab, missing = replay
    send(tab, run_data(40, going=False))
    picture = tab.get_by_test_id("map")
    expect(picture).to_be_visible()
    later = run_data(3, key="runs/two@2")
    for moment in later["moments"]:
        moment["probe"] = moment["probe"].replace("recorded", "late")
    missing.append("moments/late")
    send(tab, later)
    expect(tab.get_by_test_id("moment-count")).to_contain_text("3/3")
    expect(picture).to_be_hidden()
    expect(tab.get_by_test_id("probe-text")).to_be_hidden()
    expect(tab.get_by_test_id("probe-note")).to_be_visible()
    send(tab, run_data(0, key="runs/three@3"))
    expect(picture).to_be_hidden()
    send(tab, run_data(4, key="runs/four@4"))
    expect(picture).to_be_visible()


def test_thumbnails_and_the_key_of_the_curves_have_one_number(replay) -> None:
    tab, _ = replay
    send(tab, run_data(12, going=False))
    expect(tab.get_by_test_id("head-0-0")).to_be_visible()
    for at in (None, "moment-first"):
        if at:
            tab.get_by_test_id(at).click()
            expect(tab.get_by_test_id("moment-count")).to_contain_text("1/12")
        key = tab.locator(".head-key .weight").all_inner_texts()
        assert tab.locator(".thumbnail .score").all_inner_texts() == key
        names = tab.locator(".thumbnail").evaluate_all("all => all.map((one) => one.title)")
        keys = tab.locator(".head-key button").evaluate_all("all => all.map((one) => one.title)")
        assert names == keys
        assert all("weight on the right symbol" in name for name in names)


def test_play_is_called_pause_while_it_plays(replay) -> None:
    tab, _ = replay
    send(tab, run_data(12, going=False))
    play = tab.get_by_test_id("moment-play")
    expect(play).to_have_accessible_name("Play the training")
    play.click()
    expect(play).to_have_accessible_name("Pause the replay")
    play.click()
    expect(play).to_have_accessible_name("Play the training")


def test_the_loss_of_batches_is_named_as_such(replay) -> None:
    tab, _ = replay
    heading = tab.locator(".curve-heading", has=tab.get_by_test_id("value-loss"))
    send(tab, run_data(12, going=False))
    expect(heading).to_contain_text("training with dropout")
    send(tab, run_data(12, key="runs/two@2", going=False) | {"batch_loss": False})
    expect(heading).not_to_contain_text("dropout")


@pytest.mark.parametrize(("name", "width"), [("curves-svg", 640), ("curves-svg_column", 320)])
def test_the_curves_are_saved_with_their_values_where_the_axes_say(replay, name, width) -> None:
    """The last point of the curve of exact match, read with the numbers beside its axis."""
    tab, _ = replay
    run = run_data(20)
    send(tab, run)
    expect(tab.get_by_test_id("moment-count")).to_contain_text("20/")
    tab.get_by_test_id("drawer").locator("summary").click()
    with tab.expect_download() as event:
        tab.get_by_test_id(name).click()
    figure = ElementTree.parse(event.value.path()).getroot()
    assert figure.get("width") == str(width)
    parents = {child: parent for parent in figure.iter() for child in parent}

    def height(node: ElementTree.Element) -> float:
        """Sum of the shifts of a node and of what it is in, px."""
        own = re.match(r"translate\([^,]+,([^)]+)\)", node.get("transform", ""))
        above = height(parents[node]) if node in parents else 0
        return above + (float(own[1]) if own else 0)

    texts = [one for one in figure.iter(f"{SVG}text") if one.text]
    written = " ".join(str(one.text) for one in texts)
    for part in ("Training of reverse", "exact match", "20 evaluations", "L1 H3", "step"):
        assert part in written
    ticks = {str(one.text): height(one) for one in texts}
    path = next(one for one in figure.iter(f"{SVG}path") if one.get("class") == "js-line")
    last = height(path) + float(path.get("d", "").split(",")[-1])
    share = (ticks["0 %"] - last) / (ticks["0 %"] - ticks["99 %"]) * 0.99
    assert share == pytest.approx(run["moments"][-1]["exact"], abs=0.005)


def shown_steps(tab: Page) -> list[float]:
    """The range of the axis of steps."""
    return tab.locator(".curve-plot").first.evaluate("(plot) => plot.layout.xaxis.range")


def place_of(tab: Page, share: float) -> tuple[float, float]:
    """A point of the first curve's panel, `share` of its width from the left."""
    box = tab.locator(".curve-plot .nsewdrag").first.bounding_box()
    assert box is not None
    return box["x"] + share * box["width"], box["y"] + box["height"] / 2


def test_the_values_of_the_moment_under_the_pointer_are_shown(replay) -> None:
    tab, _ = replay
    run = run_data(40, going=False)
    send(tab, run)
    expect(tab.locator(".curve-plot .xy .point")).to_have_count(40)
    tab.mouse.move(*place_of(tab, 0.499))
    expect(tab.locator(".hoverlayer .legendtitletext")).to_have_text("step 500")
    exact = next(one["exact"] for one in run["moments"] if one["step"] == 500)
    expect(tab.locator(".hoverlayer .legendtext")).to_have_text(f"exact match : {exact:.1%}")


def test_nothing_is_drawn_over_the_values_under_the_pointer(replay) -> None:
    tab, _ = replay
    send(tab, run_data(40, going=False))
    expect(tab.locator(".curve-plot .xy .point")).to_have_count(40)
    name = tab.get_by_test_id("main-curves").locator(".curve-heading").last.bounding_box()
    assert name is not None
    tab.mouse.move(name["x"] + 0.4 * name["width"], name["y"] + name["height"] + 20)
    values = tab.locator(".hoverlayer .legend .bg")
    expect(values).to_have_css("fill-opacity", "1")
    values.evaluate("(values) => { values.style.pointerEvents = 'all'; }")
    box = values.bounding_box()
    assert box is not None
    place = (box["x"] + 2, name["y"] + name["height"] / 2)
    assert box["y"] < place[1] < box["y"] + box["height"]  # they cover a part of the name
    assert name["x"] < place[0] < name["x"] + name["width"]
    uppermost = "(place) => document.elementFromPoint(...place).classList.value"
    assert tab.evaluate(uppermost, place) == "bg"
    line = tab.locator(".hoverlayer .spikeline[stroke-dasharray]")
    expect(line).to_have_attribute("stroke-width", "1")
    below = tab.locator(".hoverlayer .spikeline:not([stroke-dasharray])")  # thick and white
    expect(below).to_have_css("display", "none")


def test_a_part_of_the_steps_is_zoomed_and_all_are_shown_again(replay) -> None:
    tab, _ = replay
    send(tab, run_data(40, going=False))
    expect(tab.locator(".curve-plot .xy .point")).to_have_count(40)
    count, zoom = tab.get_by_test_id("moment-count"), tab.get_by_test_id("main-curves-zoom")
    assert shown_steps(tab) == [0, 1000]
    zoom.click()
    tab.mouse.move(*place_of(tab, 0.5))
    tab.mouse.down()
    tab.mouse.move(*place_of(tab, 0.6))
    tab.mouse.move(*place_of(tab, 0.75))
    tab.mouse.up()
    expect(zoom).to_have_text("All steps")
    assert shown_steps(tab) == pytest.approx([500, 750], abs=5)
    expect(count).to_contain_text("40/40")
    expect(tab.get_by_test_id("main-curves-cursor").first).to_be_hidden()
    tab.mouse.click(*place_of(tab, 0.2))
    expect(count).to_have_text("moment 22/40 · step 550")
    expect(tab.get_by_test_id("main-curves-cursor").first).to_be_visible()
    zoom.click()
    expect(zoom).to_have_text("Zoom")
    assert shown_steps(tab) == [0, 1000]


def test_the_best_moment_is_marked_and_a_click_shows_it(replay) -> None:
    tab, _ = replay
    run = run_data(40, going=False)
    send(tab, run)
    best = min(run["moments"], key=lambda moment: moment["held_out"])
    star = tab.get_by_test_id("best")
    visible = star.locator("visible=true")
    expect(visible).to_have_count(1)
    expect(visible).to_have_attribute("title", re.compile(f"{best['step']}"))
    mark = tab.locator(".curve-plot .x2y2 .points path").last.bounding_box()
    own = visible.bounding_box()
    assert mark is not None
    assert own is not None
    for side, size in (("x", "width"), ("y", "height")):
        assert mark[side] + mark[size] / 2 == pytest.approx(own[side] + own[size] / 2, abs=2)
    visible.click()
    expect(tab.get_by_test_id("moment-count")).to_contain_text(f"step {best['step']}")


@pytest.mark.parametrize("picture", ["antidiagonal", "diagonal"])
def test_one_guess_before_a_picture_forms_is_judged_after_it(replay, picture):
    tab, _ = replay
    send(tab, run_data(2))
    guess = tab.get_by_test_id("picture-guess")
    expect(guess).to_contain_text("Which picture will a head become?")
    expect(guess.locator("button.guess-picture")).to_have_count(3)
    tab.get_by_test_id(f"picture-{picture}").click()
    expect(guess).to_contain_text("Your guess: a line from top")
    send(tab, run_data(40, going=False))
    expect(guess).to_contain_text("What formed is a line from top right to bottom left")
    right = picture == "antidiagonal"
    expect(guess).to_contain_text("you guessed " + ("right." if right else "a line from top left"))
    expect(guess).to_have_attribute("data-right", str(right).lower())
    send(tab, run_data(2, key="runs/two@2"))  # another run asks anew
    tab.get_by_test_id("guess-skip").click()
    expect(guess).to_be_hidden()


def test_what_has_formed_is_not_asked(replay):
    tab, _ = replay
    send(tab, run_data(40))
    expect(tab.get_by_test_id("moment-sentence")).to_contain_text("Step 1000")
    expect(tab.get_by_test_id("picture-guess")).to_be_hidden()


def test_curves_on_a_projector_are_high_enough_and_their_titles_whole(replay):
    tab, _ = replay
    tab.set_viewport_size({"width": 1024, "height": 768})
    send(tab, run_data(40, going=False))
    expect(tab.get_by_test_id("main-curves")).to_be_visible()
    tab.keyboard.press("p")
    cursors = tab.get_by_test_id("main-curves-cursor")
    for number in range(3):
        expect(cursors.nth(number)).to_have_css("height", re.compile(r"1[2-9]\d(\.\d+)?px"))
    cut = """all => all.filter((one) =>
      one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight).length"""
    assert tab.locator("[data-testid=main-curves] .curve-heading").evaluate_all(cut) == 0
    expect(tab.get_by_test_id("main-curves").get_by_text("L0 H0")).to_be_visible()
