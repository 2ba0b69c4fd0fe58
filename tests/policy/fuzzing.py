"""How long a generated test goes on: short in `make test`, and as often as `FUZZ` says in `make fuzz`."""

import os


def examples(usual: int) -> int:
    """How many examples to try, where `usual` are tried in `make test`."""
    return usual * int(os.environ.get("FUZZ", "1"))
