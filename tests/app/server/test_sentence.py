import pytest
from starlette.datastructures import Headers

from explorer.app.server.sentence import language_of, sentence


@pytest.mark.parametrize(
    ("asked", "language"),
    [("", "en"), ("zh-CN,zh;q=0.9,en;q=0.8", "zh"), ("fr", "en"), ("en;q=1", "en"), (";,", "en")],
)
def test_the_first_tag_chooses_the_language(asked, language):
    assert language_of(Headers({"accept-language": asked})) == language


def test_the_answer_is_one_sentence_that_is_not_kept():
    answer = sentence(429, "classroom.key_wait", Headers({"accept-language": "zh"}), seconds=7)
    assert answer.status_code == 429
    assert answer.headers["cache-control"] == "no-store"
    assert "7 秒" in bytes(answer.body).decode()
