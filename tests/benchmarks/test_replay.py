from tests.support.benchmark_output import lines_of


def test_scrubs_and_updates_are_measured():
    lines = lines_of("replay", "--moments", "12", "--steps", "4", "--updates", "2")
    assert [line.split(":")[0] for line in lines] == ["scrub", "live update"]
    assert all("ms (target" in line for line in lines)
