from pathlib import Path

from tests.support.benchmark_output import lines_here
from tests.support.toy_sentences import as_table


def test_every_way_has_its_tokens_a_second(tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text(as_table(), "utf-8")
    short = ("--width", "16", "--pieces", "400", "--joined", "0")  # 128 joined texts take seconds
    once = ("--steps", "1", "--blocks", "1", "--threads", "1")
    earlier = ("--earlier", str(Path(__file__).parents[2]))
    lines = lines_here("translation_speed", str(pairs), "--device", "cpu", *short, *once, *earlier)
    assert [line.split()[0] for line in lines] == ["ours", "sentences", "shuffled", "earlier"]
    assert all(float(line.split()[1]) > 0 for line in lines)
    assert lines[0].endswith("ours  1.00 ×")
