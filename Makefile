# Two commands for users (install, run), three for developers (test, check, foreign); CI calls the same ones.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
ARGS ?=
# The limit of a test, in seconds, is no setting of pytest's: a clone has pytest-timeout only after `make install-dev`,
# and pytest refuses settings of plugins that are not there.
PYTEST := $(BIN)/python -m pytest --timeout 120

.PHONY: help install install-dev compile run test check format foreign foreign-build bench chaos lock clean

help:
	@echo "make install   create $(VENV) from the lock file (kubectl included)"
	@echo "make run       start a shard, its cache server and the controllers; ARGS='--port 7443' passes flags on"
	@echo "make test      all tests, in minutes"
	@echo "make check     ruff, mypy --strict, pyright on the public API, import-linter"
	@echo "make foreign   tests against real Go servers and clients (says so when Go is missing)"
	@echo "make chaos     fault runs of whole processes, 300 seeds; ARGS='--seed 7 --shrink' plays one"
	@echo "make bench     one table of figures, also in build/bench.json"

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "kcpctl needs Python 3.11 or newer, found %d.%d (%s); run make PYTHON=/path/to/a/newer/python" % (*sys.version_info[:2], sys.executable))'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements/run.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.installed-dev: requirements/dev.txt $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

install: $(VENV)/.installed compile
install-dev: $(VENV)/.installed-dev compile

# As pip does for packages that are not editable, again after each change: compiling is half of a start where Python may
# not write it down (PYTHONDONTWRITEBYTECODE). What is compiled already takes a twentieth of a second.
compile: $(VENV)/.installed
	@$(BIN)/python -m compileall -q informers controllers kcpctl

run: install
	@exec $(BIN)/python -m kcpctl run $(ARGS)

test: install-dev
	$(PYTEST) -n auto --dist worksteal $(ARGS)

check: install-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pyright --pythonpath $(BIN)/python

format: install-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

foreign-build:
	@bash tests/foreign/build.sh

foreign: install-dev foreign-build
	$(PYTEST) tests/foreign -n 2 $(ARGS)

chaos: install-dev
	$(BIN)/python -m tests.chaos $(or $(ARGS),--seeds 0-299)

bench: install-dev foreign-build
	$(BIN)/python -m tests.bench.run $(ARGS)

# The lock files name no index: whoever installs uses the one set up on the machine.
LOCK = pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url --no-emit-trusted-host \
	--no-emit-find-links --no-header --extra kubectl --extra uvloop
lock:
	$(LOCK) -o requirements/run.txt pyproject.toml requirements/build.in
	$(LOCK) --extra test --extra check -o requirements/dev.txt pyproject.toml requirements/build.in

clean:
	rm -rf $(VENV) .venv-newest build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info tests/foreign/go/bin
