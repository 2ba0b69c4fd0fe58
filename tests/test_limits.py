"""A test that hangs is ended, with the line where it hangs, and the others still run."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

TESTS = Path(__file__).parent


def run(folder: Path, text: str, *arguments: str, grace: float = 60) -> tuple[int, str]:
    """The exit code and the output of pytest on one file."""
    (folder / "conftest.py").write_text(
        f"import pytest, limits\nlimits.GRACE = {grace}\npytest_plugins = ['limits']\n"
        "@pytest.fixture\ndef anyio_backend():\n    return 'asyncio'\n"
    )
    (folder / "pytest.ini").write_text(f"[pytest]\nanyio_mode = auto\npythonpath = {TESTS}\n")
    (folder / "test_it.py").write_text("import asyncio, time, pytest\n" + textwrap.dedent(text))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    # The plugins that it needs, and no others: they take longer to be imported than the tests.
    environ = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_a_coroutine_that_hangs_is_cancelled_where_it_hangs_and_what_is_quick_is_left_alone(tmp_path: Path) -> None:
    code, output = run(
        tmp_path,
        """
        @pytest.mark.limit(0.2)
        async def test_hangs():
            try:
                await asyncio.Event().wait()  # here
            finally:
                print("cleaned up")

        async def test_other():
            pass

        @pytest.mark.limit(60)
        async def test_quick():
            await asyncio.sleep(0)
        """,
        "-p",
        "anyio.pytest_plugin",
    )
    assert code == 1
    assert "1 failed, 2 passed" in output
    assert "TimeoutError" in output
    assert "await asyncio.Event().wait()  # here" in output
    assert "cleaned up" in output


def test_what_cannot_be_cancelled_ends_its_worker_alone(tmp_path: Path) -> None:
    code, output = run(
        tmp_path,
        """
        @pytest.mark.limit(0.2)
        def test_hangs():
            time.sleep(1000)

        @pytest.mark.parametrize("number", range(4))
        def test_other(number):
            pass
        """,
        "-p",
        "xdist.plugin",
        "-n1",
        grace=1,
    )
    assert code == 1
    assert "1 failed, 4 passed" in output
    assert "in test_hangs" in output
