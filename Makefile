# Two commands: `make run` opens the explorer, `make test` checks everything.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run class test check clean

run: $(VENV)/run
	$(BIN)/python -m explorer

class: $(VENV)/run
	$(BIN)/python -m explorer class

test: check $(VENV)/chromium
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: $(VENV)/test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

$(VENV)/run: requirements.txt
	$(PYTHON) -c 'import sys; sys.exit(None if (3, 11) <= sys.version_info < (3, 14) else "Python 3.11 to 3.13 is needed; name one, as in: make run PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

$(VENV)/test: $(VENV)/run tests/requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r tests/requirements.txt
	touch $@

# A Chromium that is already there, else the system's, else Playwright's own.
$(VENV)/chromium: $(VENV)/test
	$(BIN)/python tests/support/chromium.py
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache
