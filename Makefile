# Every target sets itself up: the first command on a fresh machine may be any of these.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JOBS ?= 2

.PHONY: reproduce test newcomer lint types layers bench docs clean

reproduce: $(READY)  ## redraw the figures and tables of all sources into out/ (QUICK=1: two minutes)
	$(BIN)/python -m examples --out out $(if $(QUICK),--quick)

test: $(READY)  ## the whole test suite, doctests included
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup

newcomer: $(READY)  ## an sdist into an empty environment, every dependency from the package registry
	$(BIN)/python -m pytest -m registry tests/fairqueues/test_newcomer.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

layers: $(READY)
	$(BIN)/lint-imports

docs: $(READY)  ## the documentation into out/docs; warnings are errors
	$(BIN)/python -m sphinx -W -q --keep-going -j $(JOBS) -b html docs out/docs

bench: $(READY)  ## the speed table, ratios against yardsticks of the same run
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "fairqueues needs Python >= 3.11; call make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { echo "python -m venv failed; on Debian: apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	@touch $@

clean:
	rm -rf $(VENV) out .pytest_cache .mypy_cache .ruff_cache
