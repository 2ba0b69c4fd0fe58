"""How long a generated test runs: briefly in `make test`, and as often as `FUZZ` says in `make fuzz`."""

import os
from collections.abc import Callable
from typing import ParamSpec

import pytest

P = ParamSpec("P")
_TIMES = int(os.environ.get("FUZZ", "1"))


def examples(usual: int) -> int:
    """How many examples to try, if `make test` tries `usual`."""
    return usual * _TIMES


def fuzzed(test: Callable[P, None]) -> Callable[P, None]:
    """A test that `make fuzz` runs, with a time limit to match its examples."""
    return pytest.mark.fuzz(pytest.mark.limit(240 * _TIMES)(test))
