import gc
import sys

import pytest

from explorer.app.server import warmup


def test_the_interpreter_s_settings_are_restored(monkeypatch):
    seen: list[tuple[bool, bool]] = []
    usual = sys.getswitchinterval()

    def note(module: str) -> None:
        seen.append((gc.isenabled(), sys.getswitchinterval() < usual))
        raise ImportError(module)

    monkeypatch.setattr(warmup, "import_module", note)
    with pytest.raises(ImportError):
        warmup._warm_up()
    assert seen == [(False, True)]
    assert gc.isenabled()
    assert sys.getswitchinterval() == pytest.approx(usual)
