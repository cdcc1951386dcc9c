# Every target sets itself up: the first command on a fresh machine may be any of these.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Nothing is compiled when it is installed, so what is imported once must be kept: images of containers forbid it.
unexport PYTHONDONTWRITEBYTECODE
# What the figures need, the tests on top of it, and what else developers need, in the same environment. Python
# compiles a module when it is first imported: most of what is installed never is.
LIBRARY := $(VENV)/.library
TESTED := $(VENV)/.tested
READY := $(VENV)/.ready
MADE := $(VENV)/.made
PIP := python -m pip install --quiet --no-compile --disable-pip-version-check
JOBS ?= 2

.PHONY: reproduce test test-long lowest pythons release newcomer lint types layers bench docs clean

reproduce: $(LIBRARY)  ## redraw the figures and tables of all sources into out/ (FULL=1: at the papers' full scale)
	$(BIN)/python -m examples --out out $(if $(FULL),--full)

# All tests of a file run in one process: what they share is made once.
test: $(TESTED)  ## the test suite, doctests included, but for the tests that take long
	$(BIN)/python -m fairqueues warm
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile

test-long: $(TESTED)  ## the tests that take long
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile -m "long and not registry" tests

# What old versions deprecate of each other is not ours.
lowest: $(MADE)  ## the test suite with the lowest versions that pyproject.toml allows, in an environment of its own
	@mkdir -p out
	$(BIN)/python -m tests.lowest > out/lowest.txt
	$(PYTHON) -m venv out/lowest
	out/lowest/bin/$(PIP) --only-binary :all: --constraint out/lowest.txt --editable ".[test,networks]"
	out/lowest/bin/python -m pytest -n $(JOBS) --dist loadfile -W ignore::DeprecationWarning tests

pythons:  ## the test suite on every Python that is promised and installed, each in an environment of its own
	$(PYTHON) -m tests.pythons -n $(JOBS) --dist loadfile tests

release: $(TESTED)  ## sdist and wheel, installed on every Python at hand, without publishing
	$(BIN)/python -m tests.release

newcomer: $(TESTED)  ## an sdist into an empty environment, every dependency from the package registry
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

$(READY): $(MADE) pyproject.toml
	$(call install,dev)
	@touch $(LIBRARY) $(TESTED) $@

$(TESTED): $(MADE) pyproject.toml
	$(call install,test)
	@touch $(LIBRARY) $@

$(LIBRARY): $(MADE) pyproject.toml
	$(call install,exact)
	@touch $@

# uv installs in four seconds what pip does in forty. It does not read the settings of pip, so where it does not
# reach the registry, pip does it.
define install
	$(BIN)/$(PIP) uv && $(BIN)/uv pip install --quiet --system-certs --python $(BIN)/python --editable ".[$(1)]" \
	  || $(BIN)/$(PIP) --editable ".[$(1)]"
endef

$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "fairqueues needs Python >= 3.11; call make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { echo "python -m venv failed; on Debian: apt-get install python3-venv"; exit 1; }
	@touch $@

clean:
	rm -rf $(VENV) out .pytest_cache .mypy_cache .ruff_cache
