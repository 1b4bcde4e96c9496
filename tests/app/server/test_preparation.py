import gc
import sys

import pytest

from explorer.app.server import preparation


def test_the_interpreter_s_settings_are_restored(monkeypatch):
    seen: list[tuple[bool, bool]] = []
    usual = sys.getswitchinterval()

    def note(module: str) -> None:
        seen.append((gc.isenabled(), sys.getswitchinterval() < usual))
        raise ImportError(module)

    monkeypatch.setattr(preparation, "import_module", note)
    with pytest.raises(ImportError):
        preparation._prepare()
    assert seen == [(False, True)]
    assert gc.isenabled()
    assert sys.getswitchinterval() == pytest.approx(usual)
