# Every target installs what it needs; the second time it starts right away.
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Many tests wait for real programs: two per core keep the machine busy. A third costs more than it brings.
JOBS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN); echo $$((n > 3 ? 8 : n * 2)))
# Otherwise each program that a test starts would compile its modules again.
unexport PYTHONDONTWRITEBYTECODE
# The page is rebuilt when one of its sources has changed.
PAGE := web/node_modules/.built
PAGE_SOURCES := $(shell find web -type f -not -path 'web/node_modules/*' -not -path 'web/src/generated/*') \
  dev/page $(wildcard src/handraise/api/*.py) $(wildcard src/handraise/model/*.py) \
  $(wildcard src/handraise/present/*.py) $(wildcard src/handraise/texts/en/*.json)

.PHONY: help run test slowest check lint types fmt page wheel docs bench torture fuzz lock clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

run: $(READY) $(PAGE)  ## run the demo: real Claude Code, scripted model, no account needed
	@$(BIN)/handraise demo

test: $(READY) $(PAGE)  ## run all tests, with the real CLI and a real browser
	@dev/browser
	@dev/shells
	@dev/postgres
	@$(BIN)/python dev/test --page -n $(JOBS)

slowest: $(READY) $(PAGE)  ## run the Python tests and list the 20 slowest
	@$(BIN)/python dev/test --slowest -n $(JOBS)

check: $(READY) $(PAGE)  ## run format, lint, types and tests, as CI does
	@$(MAKE) --no-print-directory -j2 lint types test

lint: $(READY)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@dev/page lint

types: $(READY) $(PAGE)
	@$(BIN)/mypy
	@dev/page check

page: $(READY) $(PAGE)  ## build the page into the Python package

wheel: $(READY) $(PAGE)  ## build a wheel in dist/, page included
	@$(BIN)/python -m hatchling build -t wheel

docs: $(READY)  ## build the documentation as a site in site/, without a network
	@$(BIN)/python dev/docs

fmt: $(READY)  ## format, and fix what can be fixed automatically
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .
	@dev/page format

bench: $(READY)  ## run the benchmarks, and compare their figures with the recorded ones; RECORD=1 records them
	@$(BIN)/python bench/run.py $(if $(RECORD),--record) $(if $(ROUNDS),--rounds=$(ROUNDS)) $(BENCH)

torture: $(READY)  ## run the long tests: hundreds of killed hubs, 100 times as many examples
	@$(BIN)/pytest -m torture -n 2
	@HANDRAISE_EXAMPLES=long $(BIN)/pytest -n 2 -m 'not torture' tests/model tests/wire tests/policy tests/store tests/session tests/agents

fuzz: $(READY)  ## fuzz the policy against real shells and programs; longer with FUZZ=1000 make fuzz
	@dev/shells
	@FUZZ=$${FUZZ:-100} $(BIN)/pytest -m fuzz -n $(JOBS) tests/policy

lock: $(READY)  ## update the lock files from pyproject.toml
	@dev/lock

clean:  ## remove everything installed or built
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache dist site web/node_modules src/handraise/api/page

$(READY): requirements-dev.lock pyproject.toml dev/setup
	@dev/setup

$(PAGE): $(PAGE_SOURCES) | $(READY)
	@dev/page build
