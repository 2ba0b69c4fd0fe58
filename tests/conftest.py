"""What every test has."""

import os
import signal

import pytest
from hypothesis import settings

pytest_plugins = ["limits"]

# As from a terminal, whatever started us: `nohup` and a shell's background leave some of these ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
for _each in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(_each, signal.SIG_DFL)

# A busy machine is no bug. `make torture` looks at a hundred times as many examples.
settings.register_profile("ours", deadline=None, max_examples=25)
settings.register_profile("long", deadline=None, max_examples=4000)
settings.load_profile(os.environ.get("HANDRAISE_EXAMPLES", "ours"))


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"
