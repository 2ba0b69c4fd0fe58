"""Our hook in the user's own settings: for every project of this user at once."""

import os
from pathlib import Path

import msgspec
from msgspec import Struct

from handraise.texts import t
from handraise.workspace.git_exclude import check_untracked
from handraise.workspace.hook_entry import HookEntry, find_hook, with_hook, without_hook
from handraise.workspace.json_texts import Unmergeable, read_json, written_json
from handraise.workspace.syncing import read_text, write_all

SETTINGS = "settings.json"
RECORD = "handraise.json"


class AddedForUser(Struct, frozen=True):
    """What we added to the user's settings."""

    hook: str = ""
    opened: tuple[str, ...] = ()
    made: bool = False


def user_hook(folder: Path) -> HookEntry | None:
    """Our hook as it stands in the settings; raises Unmergeable."""
    address = _added(folder).hook
    text = read_text(folder, SETTINGS)
    return find_hook(read_json(SETTINGS, text), address, SETTINGS) if address else None


def sync_user(folder: Path, hook: HookEntry | None) -> list[str]:
    """Adds our hook, or removes it if None; returns the changed files. Raises Unmergeable."""
    root = Path(os.path.realpath(folder))
    root.mkdir(mode=0o700, parents=True, exist_ok=True)
    before, added = read_text(root, SETTINGS), _added(root)
    content = read_json(SETTINGS, before)
    plain = without_hook(content, added.hook, SETTINGS, added.opened) if added.hook else content
    if hook is None:
        after = None if added.made and not plain else written_json(plain, before)
        record = None
    else:
        check_untracked(Path(os.path.realpath(root / SETTINGS)))
        content, opened = with_hook(plain, hook, SETTINGS)
        after = written_json(content, before)
        made = added.made if added.hook else before is None
        record = msgspec.json.format(msgspec.json.encode(AddedForUser(hook.url, opened, made))).decode() + "\n"
    files = {RECORD: record, SETTINGS: after} if hook else {SETTINGS: after, RECORD: record}
    changed = {name: text for name, text in files.items() if text != read_text(root, name)}
    write_all(root, changed, private=(SETTINGS,))
    return [str(root / name) for name in (SETTINGS,) if name in changed]


def _added(folder: Path) -> AddedForUser:
    text = read_text(folder, RECORD)
    try:
        return msgspec.json.decode(text, type=AddedForUser) if text is not None else AddedForUser()
    except msgspec.MsgspecError as error:
        raise Unmergeable(t("error.sync.record", file=RECORD, error=error)) from error
