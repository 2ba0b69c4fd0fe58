"""The desk inside the hub: direct calls to sessions, inbox, feed and store."""

import os
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from typing import Unpack

import msgspec
from msgspec.structs import replace

from handraise import feed
from handraise import feed as feeds
from handraise.desk.interface import (
    Conflict,
    CutOff,
    Invalid,
    LostPlace,
    NotFound,
    Refused,
    SessionSummary,
    TooLate,
    Unfit,
    Words,
)
from handraise.feed import Feed
from handraise.inbox import errors
from handraise.inbox.inbox import Inbox, check_readable
from handraise.model import ids
from handraise.model.actors import Person
from handraise.model.answers import Answer, Misfit
from handraise.model.asks import AcceptedAnswer, Ask, Kind, State
from handraise.model.audit import AuditFilter, Entry, What
from handraise.model.ids import Prefix
from handraise.model.items import Item, Preview
from handraise.model.names import BadName, NameKind, check_name
from handraise.model.projects import Options, Project, innermost
from handraise.model.rules import Rule
from handraise.model.sessions import Say, Session
from handraise.model.trust import DirectoryTrust
from handraise.session import machine
from handraise.session.commands import ChangeMode, ChangeModel, Interrupt, Rename, Stop, Wish
from handraise.session.supervisor import NoSuchSession, StartOptions, Supervisor
from handraise.store.changes import Record, RevokeTrust, SaveProject
from handraise.store.interface import Store, StoreConflict
from handraise.texts import t

_TITLE = 200


@contextmanager
def desk_errors() -> Iterator[None]:
    """Turns errors of the parts into errors of the desk."""
    try:
        yield
    except (NoSuchSession, errors.NoSuchAsk) as error:
        raise NotFound(str(error)) from error
    except machine.WishRefused as error:
        raise Refused(str(error)) from error
    except (Misfit, errors.RuleUnreadable) as error:
        raise Unfit(str(error)) from error
    except (errors.AlreadySettled, errors.NotWhatWasShown) as error:
        raise Conflict(str(error), error.ask) from error
    except errors.AlreadyWithdrawn as error:
        raise TooLate(str(error), error.ask) from error
    except feed.CursorGone as error:
        raise LostPlace(error.oldest, error.newest) from error
    except feed.FellBehind as error:
        raise CutOff(error.cursor) from error


class LocalDesk:
    """See `Desk`. `person` acts, `source` is the surface it comes from."""

    def __init__(
        self,
        person: Person,
        source: str,
        *,
        store: Store,
        feed: Feed,
        inbox: Inbox,
        supervisor: Supervisor,
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
    ) -> None:
        self.person = person
        self.source = source
        self._store = store
        self._feed = feed
        self._inbox = inbox
        self._supervisor = supervisor
        self._clock = clock
        self._entropy = entropy

    def seat(self, person: Person, source: str) -> "LocalDesk":
        """The same desk for another person."""
        return LocalDesk(
            person,
            source,
            store=self._store,
            feed=self._feed,
            inbox=self._inbox,
            supervisor=self._supervisor,
            clock=self._clock,
            entropy=self._entropy,
        )

    async def start(
        self, say: Words, project: str, *, mode: str | None = None, model: str | None = None, title: str | None = None
    ) -> SessionSummary:
        known = await self._store.project(project)
        directory = _directory(known.path if known else project)
        known = known or innermost(await self._store.projects(), directory)
        options = StartOptions(say, directory, known, mode, model, title)
        with desk_errors():
            started = await self._supervisor.start(options, self.person, self.source)
        await self._record("session started", session=started.id)
        return await self._summary(started)

    async def sessions(self) -> list[SessionSummary]:
        open_asks, lines = await self._store.open_asks(), await self._store.last_lines()
        return [
            SessionSummary(session, open_asks.get(session.id, 0), lines.get(session.id, ""))
            for session in await self._store.sessions()
        ]

    async def session(self, session: str) -> SessionSummary:
        found = await self._store.session(session)
        if found is None:
            raise NotFound(t("error.no_session", session=session))
        return await self._summary(found)

    async def say(self, session: str, say: Words, say_id: str | None = None) -> Say:
        with desk_errors():
            return await self._supervisor.say(session, say, self.person, self.source, say_id)

    async def interrupt(self, session: str) -> None:
        await self._wish(session, Interrupt())

    async def allow_denied(self, session: str, action: str) -> None:
        with desk_errors():
            await self._supervisor.allow_denied(session, action, self.person, self.source)

    async def stop(self, session: str) -> None:
        await self._wish(session, Stop(t("sessions.ended.by_person", who=self.person.name), self.person.name))
        await self._record("session stopped", session=session)

    async def change_mode(self, session: str, mode: str) -> None:
        await self._wish(session, ChangeMode(mode))

    async def change_model(self, session: str, model: str) -> None:
        await self._wish(session, ChangeModel(model))

    async def rename(self, session: str, title: str) -> None:
        line = " ".join(title.split())
        if not line:
            raise Refused(t("error.naming.title.empty"))
        await self._wish(session, Rename(_named(line[:_TITLE], "title")))

    async def resume(self, session: str, say: Words | None = None) -> SessionSummary:
        with desk_errors():
            resumed = await self._supervisor.resume(session, say, self.person, self.source)
        await self._record("session resumed", session=resumed.id)
        return await self._summary(resumed)

    async def fork(self, session: str, say: Words) -> SessionSummary:
        with desk_errors():
            forked = await self._supervisor.fork(session, say, self.person, self.source)
        await self._record("session started", session=forked.id)
        return await self._summary(forked)

    async def asks(
        self,
        *,
        state: State | None = "open",
        kind: Kind | None = None,
        session: str | None = None,
        after: str | None = None,
        limit: int | None = None,
        newest_first: bool = False,
    ) -> list[Ask]:
        return await self._store.asks(
            state=state, kind=kind, session=session, after=after, limit=limit, newest_first=newest_first
        )

    async def ask(self, ask: str) -> Ask:
        found = await self._store.ask(ask)
        if found is None:
            raise NotFound(t("error.no_ask", ask=ask))
        return found

    async def answer(self, ask: str, answer: Answer, digest: str | None = None) -> AcceptedAnswer:
        with desk_errors():
            return await self._inbox.answer(ask, answer, self.person, self.source, digest)

    async def items(
        self, session: str | None = None, *, after: int | None = None, before: int | None = None, limit: int = 500
    ) -> list[Item]:
        return await self._store.items(session=session, after=after, before=before, limit=limit)

    async def newest(self) -> int:
        _, newest = await self._store.cursors()
        return newest

    @asynccontextmanager
    async def follow(
        self, after: int | None = None, session: str | None = None, watch: Collection[str] = ()
    ) -> AsyncIterator["LocalFollower"]:
        with desk_errors():
            async with self._feed.follow(after, session, watch) as follower:
                yield LocalFollower(follower)

    async def rules(self) -> list[Rule]:
        return list(self._inbox.rules)

    async def revoke(self, rule: str) -> None:
        if not await self._inbox.remove_rule(rule):
            raise NotFound(t("error.no_rule", rule=rule))
        await self._record("rule revoked", rule=rule)

    async def add_rule(self, rule: Rule) -> Rule:
        if rule.project is not None:
            rule = replace(rule, project=await self._scope(rule.project))
        saved = replace(rule, id=self._spell("r"), made_by=self.person.name, made_at=self._clock(), source="person")
        with desk_errors():
            await self._inbox.save_rule(saved)
        await self._record("rule made", rule=saved.id)
        return saved

    async def _scope(self, named: str) -> str:
        """A project's ID; a directory outside all projects is its own scope, as for its sessions."""
        project = await self._store.project(named)
        if project is None and not os.path.isabs(named):
            raise NotFound(t("error.no_project", project=named))
        return project.id if project else _directory(named)

    async def trusts(self) -> list[DirectoryTrust]:
        return await self._store.trusts()

    async def revoke_trust(self, directory: str) -> None:
        entry = Entry(self._clock(), "trust revoked", self.person, self.source, detail={"directory": directory})
        if await self._store.trust(directory) is None:
            raise NotFound(t("error.no_trust", directory=directory))
        await self._store.apply([RevokeTrust(directory), Record(entry)])

    async def projects(self) -> list[Project]:
        return await self._store.projects()

    async def add_project(self, path: str, name: str | None, options: Options) -> Project:
        directory = _directory(path)
        named = _named(name or os.path.basename(directory) or directory)
        project = Project(self._spell("p"), named, directory, options, self._clock())
        await self._save(project, "project added")
        return project

    async def change_project(self, project: str, name: str | None, options: Options | None) -> Project:
        found = await self._store.project(project)
        if found is None:
            raise NotFound(t("error.no_project", project=project))
        changed = replace(found, name=_named(name) if name else found.name, options=options or found.options)
        await self._save(changed, "project changed")
        return changed

    async def audit(self, **wanted: Unpack[AuditFilter]) -> list[Entry]:
        return await self._store.audit(**wanted)

    async def _save(self, project: Project, what: What) -> None:
        with desk_errors():
            check_readable(project.rules)
        detail = {"project": project.id, "name": project.name, "options": msgspec.to_builtins(project.options)}
        entry = Entry(self._clock(), what, self.person, self.source, detail=detail)
        try:
            await self._store.apply([SaveProject(project), Record(entry)])
        except StoreConflict as error:
            raise Refused(await self._clash(project) or str(error)) from error
        await self._inbox.read_rules()

    async def _clash(self, project: Project) -> str | None:
        """Why a project can't be saved if another has its directory or its name."""
        for each in await self._store.projects():
            if each.id != project.id and each.path == project.path:
                return t("error.directory_taken", name=each.name)
            if each.id != project.id and each.name == project.name:
                return t("error.name_taken", name=each.name)
        return None

    async def _record(self, what: What, *, session: str | None = None, rule: str | None = None) -> None:
        entry = Entry(self._clock(), what, self.person, self.source, session=session, rule=rule)
        await self._store.apply([Record(entry)])

    def _spell(self, prefix: Prefix) -> str:
        return ids.spell(prefix, self._entropy(ids.ENTROPY))

    async def _wish(self, session: str, wish: Wish) -> None:
        with desk_errors():
            await self._supervisor.wish(session, wish)

    async def _summary(self, session: Session) -> SessionSummary:
        open_asks, lines = await self._store.open_asks(), await self._store.last_lines(session.id)
        return SessionSummary(session, open_asks.get(session.id, 0), lines.get(session.id, ""))


class LocalFollower:
    """See `Follower`."""

    def __init__(self, follower: feeds.FeedFollower) -> None:
        self._follower = follower

    def __aiter__(self) -> "LocalFollower":
        return self

    async def __anext__(self) -> Sequence[Item] | Preview:
        with desk_errors():
            return await anext(self._follower)


def _named(name: str, of: NameKind = "name") -> str:
    try:
        return check_name(name, of)
    except BadName as error:
        raise Invalid(str(error)) from error


def _directory(named: str) -> str:
    if not os.path.isabs(named):
        raise NotFound(t("error.no_project_named", project=repr(named)))
    if not os.path.isdir(named):
        raise NotFound(t("error.no_directory", directory=named))
    return os.path.realpath(named)
