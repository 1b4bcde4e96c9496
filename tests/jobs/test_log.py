from explorer.jobs.log import last_message, log_tail


def test_of_a_progress_bar_the_latest_state_is_kept(tmp_path):
    path = tmp_path / "log.txt"
    assert log_tail(path, 12) == []
    path.write_bytes(b"hello\n 1%|\r 2%|\r 3%|\nbye \xff\n")
    assert log_tail(path, 12) == ["hello", " 3%|", "bye \ufffd"]
    assert log_tail(path, 2) == [" 3%|", "bye \ufffd"]
    path.write_text("one\u2028line\x85only\n", "utf-8")
    assert log_tail(path, 12) == ["one\u2028line\x85only"]


def test_the_last_message_is_none_of_a_progress_bar(tmp_path):
    path = tmp_path / "log.txt"
    assert last_message(path) == ""
    path.write_text("\r 18 % |## | 00:58\n")
    assert last_message(path) == ""
    path.write_text("Traceback\nerror: no heads\n\r100 % |## | 00:00\n")
    assert last_message(path) == "no heads"
    path.write_text("long" * 2_000)
    assert last_message(path) == ("long" * 75)
