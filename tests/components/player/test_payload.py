import json
import re
import struct
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from explorer.components.player import PLOTLY, View, bundle, page, payload, styles
from explorer.components.player.bundle import SCRIPTS, SHEETS
from explorer.core.alignment import content
from explorer.core.i18n import LANGUAGES, section
from explorer.core.mask_reasons import PADDING, UNMASKED
from explorer.core.trace import Trace
from explorer.core.word_segmentation import KNOWN_SPECIALS
from explorer.core.words import merge
from tests.support.example_traces import example_trace, pieces_trace, random_trace

joiner = sys.modules[
    "explorer.components.player.bundle"
]  # the package's own `bundle` is the function


def unpacked(data: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    """Header and arrays, read by this file's own reading of the format."""
    (length,) = struct.unpack_from("<I", data)
    assert length % 4 == 0
    header = json.loads(data[4 : 4 + length])
    body = data[4 + length :]
    arrays = {
        name: np.frombuffer(body, place["type"], place["length"], place["start"])
        for name, place in header["arrays"].items()
    }
    assert all(place["start"] % 4 == 0 for place in header["arrays"].values())
    return header, arrays


def weights(trace: Trace, site: str) -> np.ndarray:
    """(layer, head, query, key) as the browser will see them."""
    header, arrays = unpacked(payload(trace))
    about = header["sites"][site]
    codes = arrays[f"{site}.attention"].astype(np.float64) / 65535 * about["scale"]
    if not about["packed"]:
        return codes.reshape(about["shape"])
    whole = np.zeros(about["shape"])
    whole[:, :, trace.mask(site)] = codes.reshape(*about["shape"][:2], -1)
    return whole


@pytest.mark.parametrize("site", ["encoder", "decoder", "cross"])
def test_weights_come_through_within_the_fifth_digit(site):
    trace = example_trace()
    assert np.abs(weights(trace, site) - trace.attention(site)).max() <= 7.7e-6


def test_weights_above_one_are_scaled_not_cut():
    cross = np.array([[[[0.5, 3.5, 0.0]]]], dtype=np.float32)
    trace = Trace.from_arrays(["a", "b", "c"], ["<bos>"], cross=cross)
    assert np.abs(weights(trace, "cross") - cross).max() <= 3.5 * 7.7e-6


def test_a_weight_behind_the_mask_is_sent_and_not_hidden():
    trace = example_trace()
    arrays = dict(trace.arrays)
    tampered = arrays["cross.attention"].copy()
    assert trace.closed("cross")[0, -1] == PADDING
    tampered[0, 0, 0, -1] = 0.25
    arrays["cross.attention"] = tampered
    forged = replace(trace, arrays=arrays)
    assert weights(forged, "cross")[0, 0, 0, -1] == pytest.approx(0.25, abs=1e-5)


def test_masks_that_differ_by_head_come_through():
    mask = np.ones((2, 3, 4, 4), dtype=bool)
    mask[1, 2, 0, 3] = False
    encoder = np.full((2, 3, 4, 4), 0.25, dtype=np.float32)
    trace = Trace.from_arrays(list("abcd"), encoder=encoder, masks={"encoder": mask})
    _, arrays = unpacked(payload(trace))
    codes = arrays["encoder.closed"].reshape(mask.shape)
    assert np.array_equal(codes == UNMASKED, mask)


def test_gold_and_candidates_come_through():
    trace = example_trace()
    header, arrays = unpacked(payload(trace))
    bits = np.unpackbits(arrays["gold"], bitorder="little")[: trace.gold.size]
    assert np.array_equal(bits.reshape(trace.gold.shape), trace.gold)
    steps = trace.steps()
    assert [header["labels"][place] for place in arrays["steps.label"]] == list(steps["token"])
    for column in ("step", "rank", "id", "chosen", "forced"):
        assert np.array_equal(arrays[f"steps.{column}"], steps[column])
    assert np.array_equal(arrays["steps.probability"], steps["probability"].astype(np.float32))


@pytest.mark.parametrize("language", LANGUAGES)
def test_six_layers_of_eight_heads_stay_small(language):
    trace = random_trace(64, 64, 6, 8)
    assert len(payload(trace, language=language)) <= 1_200_000


def test_the_trace_in_words_travels_inside_without_sentences_and_says_where_its_steps_are():
    trace = pieces_trace()
    view = View(original=("▁L", "a", "▁ch", "at", "te", "<eos>"))
    header, arrays = unpacked(payload(trace, view=view))
    inner, _ = unpacked(arrays["words"].tobytes())
    merged = merge(trace)
    assert tuple(inner["target"]) == merged.target_tokens
    assert tuple(inner["predicted"]) == merged.predicted_tokens
    assert inner["sites"]["cross"]["shape"] == list(merged.attention("cross").shape)
    assert inner["rows"] == [0, 2, 4]  # the last piece of each word
    assert inner["columns"] == [0, 2, 3, 4, 5]
    assert inner["original"] == ["La", "chatte", "<eos>"]
    assert not {"strings", "view", "integrity", "words"} & (set(inner) | set(inner["arrays"]))
    source, outputs = content(trace)
    assert header["content"] == {"source": source.tolist(), "outputs": outputs.tolist()}
    assert inner["content"]["outputs"] == [True, True, False]


def test_a_trace_whose_words_are_single_pieces_travels_once():
    header, arrays = unpacked(payload(example_trace()))
    assert "words" not in arrays
    assert not header["marked"]  # and nobody could ask for words
    weights = np.full((1, 1, 2, 2), 0.5, dtype=np.float32)
    header, arrays = unpacked(payload(Trace.from_arrays(["▁a", "▁b"], encoder=weights)))
    assert "words" not in arrays
    assert header["marked"]


def test_the_script_knows_the_specials_python_knows():
    listed = re.search(r"const SPECIALS = new Set\(\s*\"(.*?)\"", bundle())
    assert listed
    assert set(listed[1].split()) == KNOWN_SPECIALS


def test_header_says_tokens_integrity_sentences_and_view():
    view = View(site="decoder", layer=1, head=2, step=3, what_if=True, forced=((2, "3"),))
    header, _ = unpacked(payload(example_trace(), language="zh", view=view))
    assert header["source"][-1] == "<pad>"
    assert {row["check"] for row in header["integrity"]} >= {"rows_sum_to_one"}
    assert header["strings"] == section("player", "zh")
    assert header["view"]["forced"] == [[2, "3"]]
    assert header["view"]["what_if"] is True


def test_numbers_json_has_no_word_for_become_null():
    trace = example_trace()
    odd = replace(trace, facts={"loss": float("inf"), "nested": [float("nan")]})
    header, _ = unpacked(payload(odd))
    assert header["facts"] == {"loss": None, "nested": [None]}


def test_half_a_surrogate_pair_does_not_stop_the_payload():
    trace = replace(example_trace(), facts={"author": "\ud83d"})
    header, _ = unpacked(payload(trace))
    assert header["facts"] == {"author": "?"}


def test_every_script_and_sheet_is_in_the_bundle_once():
    for kind, names in (("js", SCRIPTS), ("css", SHEETS)):
        files = Path(joiner.__file__).parent.joinpath(kind).glob(f"*.{kind}")
        assert sorted(names) == sorted(file.stem for file in files)
    assert len(set(SCRIPTS)) == len(SCRIPTS)


def test_plotly_is_the_installed_package_s():
    assert PLOTLY.name == "plotly.min.js"
    assert PLOTLY.stat().st_size > 1_000_000


def test_the_bundle_is_one_module_that_imports_nothing():
    script = bundle()
    assert script.count("export default function") == 1
    assert not re.search(r"^\s*import\b", script, re.MULTILINE)
    assert "innerHTML" not in script
    declared = re.findall(r"^(?:async )?function (\w+)|^const (\w+) =", script, re.MULTILINE)
    names = [one or other for one, other in declared]
    assert len(names) == len(set(names))


def test_every_sentence_the_script_asks_for_exists():
    asked = set(re.findall(r"\bsay\(\s*\"(\w+)\"", bundle()))
    assert asked <= set(section("player"))
    checks = {"rows_sum_to_one", "closed_cells_are_zero", "unchanged_since_capture"}
    for check in checks:
        for kind in ("check", "failed", "about"):
            assert f"{kind}_{check}" in section("player")


def test_the_script_itself_speaks_no_language():
    assert not re.search(r"[\u4e00-\u9fff]", bundle() + styles())


def own_part(html: str) -> str:
    """The page without the Plotly it embeds."""
    start = html.index('<script type="text/plain" id="plotly">')
    return html[:start] + html[html.index("</script>", start) :]


def test_the_page_asks_the_network_for_nothing():
    html = page(example_trace())
    assert "http" not in own_part(html).replace("http-equiv", "")
    assert not re.search(r"<(?:script|img|iframe)[^>]*\ssrc=", own_part(html))
    assert "default-src 'none'" in html


def test_tokens_cannot_leave_the_page_s_data():
    hostile = ("</script>", "<!--", "<script>", "</title><b>", "\u2028")
    html = page(example_trace(hostile))
    assert html.count("</script>") == 3
    assert "<b>" not in own_part(html)
    assert "<!--" not in html


def test_the_page_speaks_its_language():
    assert '<html lang="zh-Hans">' in page(example_trace(), "zh")
    assert '<html lang="en">' in page(example_trace(), "en")
    assert "<title>7 3 9 1 4" in page(example_trace())
