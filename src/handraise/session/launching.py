"""How a session's next process starts: what it remembers, and what it uses of its directory. Pure."""

from collections.abc import Mapping

from msgspec import Struct

from handraise.claude.command import Launch
from handraise.model.projects import Options
from handraise.model.sessions import Session
from handraise.session import requests
from handraise.session.memory import Memory, StartKind

_MEMORY = {"CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1"}
"""Without a project's settings Claude reads `CLAUDE.md` only from added directories, and only with this."""

_PATIENT = {"CLAUDE_CODE_USER_DIALOG_TIMEOUT_MS": "2000000000"}
"""A dialog of Claude Code stays open for three weeks instead of five minutes, unless the person set another time."""

_CAUTION = (
    "This conversation started earlier, and its record was lost. Some of the work may already be done: "
    "check what is there before you do anything again."
)
_STATES = {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"}
"""Makes Claude say when it waits for a person."""


class StartContext(Struct, frozen=True):
    """How a session starts. If untrusted, nothing the directory brings is used; its texts can be read."""

    trusted: bool = False
    keeps_hooks: bool = False
    """The directory would turn off all hooks, including the guard over its settings."""
    reading_list: str | None = None
    own_servers: str | None = None
    note: str = ""

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """For Claude."""
        return {**_PATIENT, **_STATES, **base, **({} if self.trusted else _MEMORY)}


def memory_for(session: Session, old: Memory, key: str = "", version: str = "", untouched: str = "") -> Memory:
    """The memory of the next process; `old` is that of the last one. Our answers are marked with `key`.

    `untouched` is the title of a first process as long as no person has chosen one.
    """
    before = old.title or untouched
    return Memory(
        title=session.title,
        turn=old.turn,
        mode=session.mode,
        model=session.model,
        cost_before=old.cost_usd,
        cooldown=old.cooldown,
        version=version,
        usage=old.usage,
        way=_way(session, old),
        missing=old.missing,
        opening=old.opening,
        unfinished=old.unfinished,
        renamed=old.renamed or (bool(before) and session.title != before),
        key=key,
        granted=[session.mode],
    )


def launch_of(
    session: Session, memory: Memory, options: Options, parent: Session | None, footing: StartContext
) -> Launch:
    """How to start it; `parent` is the session it was forked from."""
    own = options.ask_user_enabled
    prompts = [options.append_system_prompt, _CAUTION if memory.missing else None, footing.reading_list]
    return Launch(
        directory=session.directory,
        session_id=session.claude_id,
        resume=memory.way == "resume",
        fork_of=parent.claude_id if parent and memory.way == "fork" else None,
        mode=session.mode,
        model=session.model,
        mcp_servers=requests.SERVERS if own else {},
        allowed_tools=(*options.allowed_tools, *((requests.ALLOWED,) if own else ())),
        append_system_prompt="\n\n".join(filter(None, prompts)) or None,
        add_dirs=options.add_dirs,
        trusted=footing.trusted,
        keeps_hooks=footing.keeps_hooks,
        mcp_files=(footing.own_servers,) if footing.own_servers else (),
    )


def _way(session: Session, old: Memory) -> StartKind:
    if old.turn and not old.missing:
        return "resume"
    return "fork" if session.forked_from and old.missing != "fork" else "begin"
