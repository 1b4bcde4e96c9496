import gc
import sys
import threading
import time

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


def test_torch_waits_for_the_first_picture(monkeypatch):
    imported, sent = [], threading.Event()
    monkeypatch.setattr(preparation, "import_module", imported.append)
    monkeypatch.setattr(preparation, "_first_sent", sent)
    monkeypatch.setattr(preparation.static_files, "prepare", lambda: imported.append("files"))
    thread = threading.Thread(target=preparation._prepare)
    thread.start()
    while not imported:
        time.sleep(0.01)
    assert imported == ["explorer.app.views.explore"]
    preparation.go_on()
    thread.join()
    later = ["explorer.model.explorable", "explorer.app.views.heads", "files"]
    assert imported[1:] == later
