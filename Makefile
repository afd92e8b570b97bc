# Each target does all of its own set-up in .venv, and touches nothing outside this folder.
#
#   make demo                      index a small vault and ask it questions
#   make test                      what has to pass: lint, types, layers, all tests
#   make test PYTHON=python3.12    with a Python of your choice (3.11 or newer)

PYTHON ?= python3
# Two at a time, the tests of a file in one process, where they share what is slow to make.
PYTEST_ARGS ?= -n 2 --dist loadfile

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq install --constraint constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-quick check lint format constraints bundle clean

help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 20

demo: $(VENV)/.installed ## Index a small vault of notes, ask in three languages, edit a note
	@$(BIN)/python scripts/demo.py

test: $(VENV)/.installed-dev check ## Lint, types, layers and all tests; what CI runs
	$(BIN)/python -m pytest $(PYTEST_ARGS)

test-quick: $(VENV)/.installed-dev ## The tests that take no more than a few seconds each
	$(BIN)/python -m pytest -m "not slow" $(PYTEST_ARGS)

lint: $(VENV)/.installed-dev check ## Lint, format, types and layers, without the tests

check: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.installed-dev ## Format the code and mend what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

constraints: $(VENV)/.installed-dev ## Write constraints.txt anew from the environment of the tests
	@sed -n '/^#/p' constraints.txt > $(VENV)/constraints.txt
	@$(BIN)/python -m pip freeze --exclude-editable | sed 's/+.*//' >> $(VENV)/constraints.txt
	@mv $(VENV)/constraints.txt constraints.txt

bundle: $(VENV)/.installed ## Pack the server as one file for programs that install such: dist/*.mcpb
	@$(BIN)/python scripts/bundle.py

clean: ## Remove the environment and every cache
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist

# --- set-up -----------------------------------------------------------------------------------

# An environment names its own folder in every script, so one that was moved here, or whose
# Python is gone, is made anew.
ifneq ($(shell $(BIN)/python -c 'import sys; print(open(sys.prefix + "/.made-in").read())' 2>/dev/null),$(CURDIR))
.PHONY: $(VENV)/.made-in
endif

$(VENV)/.made-in:
	@$(PYTHON) -c 'import sys; sys.exit("LanceBrain needs Python 3.11 or newer; name one: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	@echo "Making an environment in $(VENV) …"
	@$(PYTHON) -m venv --clear $(VENV)
	@printf '%s' '$(CURDIR)' > $@

$(VENV)/.installed: pyproject.toml constraints.txt $(VENV)/.made-in
	@echo "Installing LanceBrain (about a minute the first time) …"
	@$(PIP) --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt $(VENV)/.made-in
	@echo "Installing LanceBrain with what its tests need (some minutes the first time) …"
	@$(PIP) --editable ".[dev,sentence-transformers]"
	@touch $(VENV)/.installed $@
