"""The relay's command: it starts with the standard library alone, and says how it is used."""

import os
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest

from handraise.askers import relay

WHAT_IS_IMPORTED = """
import sys
sys.argv = ["handraise", "mcp", "--help"]
from handraise.cli.entry import main
try:
    main()
finally:
    print(*{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)
"""


def test_it_imports_nothing_but_the_standard_library() -> None:
    # Isolated, and without what a virtual environment runs at the start of every program.
    source = str(Path(relay.__file__).parents[2])
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {source!r})\n{WHAT_IS_IMPORTED}"],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = set(ran.stderr.split())

    assert "handraise" in imported
    assert imported <= {*sys.stdlib_module_names, "handraise", "__main__"}
    assert not imported & {"asyncio", "ssl", "email", "http", "urllib"}


@pytest.mark.parametrize(
    "variables", [{}, {"HANDRAISE_STATE": "~/elsewhere"}, {"XDG_STATE_HOME": "/var/state"}, {"XDG_STATE_HOME": ""}]
)
def test_it_looks_for_the_hub_where_the_hub_is(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name in ("HANDRAISE_STATE", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    named = variables.get("HANDRAISE_STATE")
    assert relay.state_folder() == (os.path.expanduser(named) if named else platformdirs.user_state_dir("handraise"))


def test_help_and_mistakes_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert relay.main(["--help"]) == 0
    assert capsys.readouterr().out.startswith("Usage: handraise mcp")
    assert relay.main(["--what"]) == 2
    assert capsys.readouterr().err.startswith("Usage: handraise mcp")


def test_a_run_file_that_is_not_there_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("ASK_USER_CONFIG", str(tmp_path / "nothing.json"))

    assert relay.main([]) == 2
    assert "cannot be read: No such file" in capsys.readouterr().err
