"""The state folder: one place for the hub, its commands and its relays."""

import os

import platformdirs
import pytest

from handraise.client.state import state_folder, usual_state_folder


@pytest.mark.parametrize("base", [None, "", " ", "relative", "/var/state"])
def test_it_is_where_the_platform_keeps_state(monkeypatch: pytest.MonkeyPatch, base: str | None) -> None:
    monkeypatch.delenv("HANDRAISE_STATE", raising=False)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    if base is not None:
        monkeypatch.setenv("XDG_STATE_HOME", base)

    assert state_folder() == usual_state_folder() == platformdirs.user_state_dir("handraise")


def test_an_option_comes_before_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANDRAISE_STATE", "~/elsewhere")

    assert state_folder() == os.path.expanduser("~/elsewhere")
    assert state_folder("~/named") == os.path.expanduser("~/named")
    assert state_folder(environ={"HANDRAISE_STATE": "/srv/hub"}) == "/srv/hub"
    assert state_folder(environ={"HANDRAISE_STATE": ""}) == usual_state_folder()
