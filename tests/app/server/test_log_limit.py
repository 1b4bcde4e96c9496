import logging

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from explorer.app import asgi
from explorer.app.server import log_limit
from explorer.app.server.log_limit import AT_ONCE, limited_warnings
from explorer.app.server.origin_check import Allowed, OriginCheck


@pytest.fixture(autouse=True)
def one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine is, no allowance refills."""
    monkeypatch.setattr(log_limit, "A_SECOND", 0.0)


def test_warnings_are_limited_for_each_logger_and_errors_are_not(caplog):
    loggers = [logging.getLogger(f"explorer.test.{name}") for name in "ab"]
    with limited_warnings(*(logger.name for logger in loggers)):
        for number in range(100):
            for logger in loggers:
                logger.warning("refused %s", number)
                logger.error("broken %s", number)
    for logger in loggers:
        own = [record for record in caplog.records if record.name == logger.name]
        warnings = [one.getMessage() for one in own if one.levelno == logging.WARNING]
        assert warnings == [f"refused {number}" for number in range(int(AT_ONCE))]
        assert len(own) == len(warnings) + 100
    caplog.clear()
    loggers[0].warning("after the block")
    assert caplog.messages == ["after the block"]


def test_the_loggers_of_refused_requests_exist_and_are_limited(caplog):
    middleware = [Middleware(OriginCheck, allowed=Allowed({"localhost"}, set()))]
    with (
        limited_warnings(*asgi._LOGGERS),
        TestClient(Starlette(middleware=middleware), base_url="http://localhost") as browser,
    ):
        for number in range(100):
            headers = {"Origin": f"http://{number}.evil.example"}
            assert browser.get("/", headers=headers).status_code == 403
    refused = [line for line in caplog.messages if "evil.example" in line]
    assert len(refused) == AT_ONCE
