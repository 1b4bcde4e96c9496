"""Hooks of pytest: tests that passed only when they were run again are named, and counted."""

import pytest

MOST_RERUN = 2
"""Tests that may have been run again; with more the run fails, although each passed at last."""


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run in which more tests than `MOST_RERUN` passed only when they were run again."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    again = {report.nodeid for report in _run_again(reporter)} if reporter else set()
    if session.exitstatus == pytest.ExitCode.OK and len(again) > MOST_RERUN:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Why each test that was run again had failed."""
    for report in _run_again(terminalreporter):
        terminalreporter.section(f"first run of {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)
    again = {report.nodeid for report in _run_again(terminalreporter)}
    if len(again) > MOST_RERUN:
        terminalreporter.section(f"{len(again)} tests were run again; at most {MOST_RERUN} may be")


def _run_again(reporter: pytest.TerminalReporter) -> list[pytest.TestReport]:
    return reporter.stats.get("rerun", [])
