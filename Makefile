# Every target installs what it needs by itself; the second time it starts at once.
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
JOBS ?= 4

.PHONY: help run test check lint types fmt bench torture lock clean

help:  ## what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

run: $(READY)  ## the demo: the real Claude Code with a scripted model, no account needed
	@$(BIN)/handraise demo

test: $(READY)  ## everything that is tested, with the real CLI
	@$(BIN)/pytest -n $(JOBS)

check: lint types test  ## format, lint, strict types, import table, tests: what CI runs

lint: $(READY)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

types: $(READY)
	@$(BIN)/mypy

fmt: $(READY)  ## format and mend what can be mended
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(READY)  ## the benchmarks, printed as ratios
	@for each in bench/bench_*.py; do $(BIN)/python $$each || exit 1; done

torture: $(READY)  ## the hub killed hundreds of times
	@$(BIN)/pytest -m torture -n 2

lock: $(READY)  ## pin what pyproject.toml asks for
	@dev/lock

clean:  ## remove what was installed and built
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache dist

$(READY): requirements-dev.lock pyproject.toml dev/setup
	@dev/setup
