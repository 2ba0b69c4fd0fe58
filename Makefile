# Every target installs what it needs by itself; the second time it starts at once.
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Many tests wait for real programs: three for each processor keep it busy.
JOBS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN); echo $$((n > 3 ? 12 : n * 3)))
# Each program that a test starts would be compiled again.
unexport PYTHONDONTWRITEBYTECODE
# The page is built anew when something it is made of has changed.
PAGE := web/node_modules/.built
PAGE_SOURCES := $(shell find web -type f -not -path 'web/node_modules/*' -not -path 'web/src/generated/*') \
  dev/page $(wildcard src/handraise/api/*.py) $(wildcard src/handraise/model/*.py) \
  $(wildcard src/handraise/present/*.py) $(wildcard src/handraise/texts/en/*.json)

.PHONY: help run test slowest check lint types fmt page wheel bench torture fuzz lock clean

help:  ## what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

run: $(READY) $(PAGE)  ## the demo: the real Claude Code with a scripted model, no account needed
	@$(BIN)/handraise demo

test: $(READY) $(PAGE)  ## everything that is tested, with the real CLI and a real browser
	@dev/browser
	@dev/shells
	@dev/page test
	@$(BIN)/python dev/test -n $(JOBS)

slowest: $(READY) $(PAGE)  ## the same, and which twenty tests took longest
	@$(BIN)/python dev/test --slowest -n $(JOBS)

check: lint types test  ## format, lint, strict types, import table, tests: what CI runs

lint: $(READY)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@dev/page lint

types: $(READY) $(PAGE)
	@$(BIN)/mypy
	@dev/page check

page: $(READY) $(PAGE)  ## the page, built into the Python package

wheel: $(READY) $(PAGE)  ## a wheel in dist/, with the page in it
	@$(BIN)/python -m hatchling build -t wheel

fmt: $(READY)  ## format and fix what can be fixed
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .
	@dev/page format

bench: $(READY)  ## the benchmarks, printed as ratios
	@for each in bench/bench_*.py; do $(BIN)/python $$each || exit 1; done

torture: $(READY)  ## the long versions: the hub killed hundreds of times, a hundred times as many examples
	@$(BIN)/pytest -m torture -n 2
	@HANDRAISE_EXAMPLES=long $(BIN)/pytest -n 2 -m 'not torture' tests/model tests/wire tests/policy tests/store tests/session tests/askers

fuzz: $(READY)  ## the policy against real shells and programs, for hours if you let it: FUZZ=1000 make fuzz
	@dev/shells
	@FUZZ=$${FUZZ:-100} $(BIN)/pytest -m fuzz -n $(JOBS) tests/policy

lock: $(READY)  ## pin what pyproject.toml asks for
	@dev/lock

clean:  ## remove what was installed and built
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache dist web/node_modules src/handraise/api/page

$(READY): requirements-dev.lock pyproject.toml dev/setup
	@dev/setup

$(PAGE): $(PAGE_SOURCES) | $(READY)
	@dev/page build
