"""The desk inside the hub: direct calls to sessions, inbox, feed and store."""

import os
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime
from posixpath import normpath
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
    MachineSummary,
    NotFound,
    Refused,
    SessionSummary,
    TooLate,
    Unfit,
    Waiting,
    Words,
)
from handraise.feed import Feed
from handraise.hub.machine_directory import ANY, MachineDirectory
from handraise.inbox import errors
from handraise.inbox.inbox import Inbox, check_readable
from handraise.model import ids
from handraise.model.actors import Person
from handraise.model.answers import Answer, Misfit
from handraise.model.asks import AcceptedAnswer, Ask, Kind, State
from handraise.model.audit import AuditFilter, Entry, What
from handraise.model.ids import Prefix
from handraise.model.instructions import Instruction, InstructionKind
from handraise.model.items import Item, Preview
from handraise.model.machines import Machine
from handraise.model.names import BadName, NameKind, check_name
from handraise.model.projects import MODES, Options, Project, innermost, places_of
from handraise.model.rules import Rule
from handraise.model.search import NO_FILTER, Query, SearchFilter, SearchHit, SearchPage, read_query
from handraise.model.sessions import Say, Session, state_of
from handraise.model.trust import DirectoryTrust
from handraise.session import machine
from handraise.session.commands import ChangeMode, ChangeModel, Interrupt, Rename, Stop, Wish
from handraise.session.remote import Dispatcher, WishWaits
from handraise.session.supervisor import NoSuchSession, StartOptions, Supervisor
from handraise.store.changes import (
    ForgetMachine,
    Record,
    RemoveProject,
    RemoveRule,
    RenameMachine,
    RevokeTrust,
    SaveProject,
    SettleInstruction,
    WithdrawSay,
)
from handraise.store.interface import Store, StoreConflict
from handraise.texts import t

_TITLE = 200

News = feeds.News


@contextmanager
def desk_errors() -> Iterator[None]:
    """Turns errors of the parts into errors of the desk."""
    try:
        yield
    except (NoSuchSession, errors.NoSuchAsk) as error:
        raise NotFound(str(error)) from error
    except WishWaits as error:
        raise Waiting(str(error)) from error
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


def _is_meant(seen: SessionSummary, only: SearchFilter) -> bool:
    session = seen.session
    if only.project is not None and only.project not in (session.project, session.directory):
        return False
    states = (state_of(session, seen.open_asks), session.phase, "running" if session.phase != "ended" else "ended")
    return only.state is None or only.state in states


_SLICE = 20_000
"""How many cursors are searched at once."""
_MOST_SLICES = 10
"""How many times; then a person may search on."""


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
        dispatcher: Dispatcher,
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
    ) -> None:
        self.person = person
        self.source = source
        self._store = store
        self._feed = feed
        self._inbox = inbox
        self._supervisor = supervisor
        self._dispatcher = dispatcher
        self._machines = MachineDirectory(store)
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
            dispatcher=self._dispatcher,
            clock=self._clock,
            entropy=self._entropy,
        )

    async def start(
        self,
        say: Words,
        project: str,
        *,
        mode: str | None = None,
        model: str | None = None,
        title: str | None = None,
        machine: str | None = None,
    ) -> SessionSummary:
        _check_mode(mode)
        known = await self._store.project(project)
        if machine is None and not self._supervisor.runs_sessions:
            machine = ANY
        if machine is not None:
            chosen = await self._machines.chosen(machine, known)
            if chosen.id != self._store.machine:
                directory = self._machines.directory_there(known, chosen)
                options = StartOptions(say, directory, known, mode, model, title)
                return await self._start_elsewhere(options, chosen)
        if known is not None and not known.path:
            own = await self._machines.find(self._store.machine)
            raise Refused(t("error.machine.no_directory", machine=own.name))
        directory = _directory(known.path if known else project)
        known = known or innermost(await self._store.projects(), directory)
        options = StartOptions(say, directory, known, mode, model, title)
        with desk_errors():
            started = await self._supervisor.start(options, self.person, self.source)
        await self._record("session started", session=started.id)
        return await self._summary(started)

    async def _start_elsewhere(self, options: StartOptions, machine: Machine) -> SessionSummary:
        with desk_errors():
            queued = await self._supervisor.start_elsewhere(options, machine.id, self.person, self.source)
        await self._record("session started", session=queued.id)
        return await self._summary(queued)

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
        await self._wish(session, Interrupt(), "interrupt")

    async def allow_denied(self, session: str, action: str) -> None:
        elsewhere = await self._elsewhere(session)
        if elsewhere is not None:
            await self._instruct(elsewhere, "allow_denied", action)
            return
        with desk_errors():
            await self._supervisor.allow_denied(session, action, self.person, self.source)

    async def stop(self, session: str) -> None:
        elsewhere = await self._elsewhere(session)
        if elsewhere is not None:
            await self._instruct(elsewhere, "stop")
            return
        reason = t("sessions.ended.by_person", who=self.person.name)
        await self._wish(session, Stop(reason, self.person.name), "stop")
        await self._record("session stopped", session=session)

    async def change_mode(self, session: str, mode: str) -> None:
        _check_mode(mode)
        await self._wish(session, ChangeMode(mode), "mode", mode)

    async def change_model(self, session: str, model: str) -> None:
        await self._wish(session, ChangeModel(model), "model", model)

    async def rename(self, session: str, title: str) -> None:
        line = " ".join(title.split())
        if not line:
            raise Refused(t("error.naming.title.empty"))
        named = _named(line[:_TITLE], "title")
        await self._wish(session, Rename(named), "rename", named)

    async def resume(self, session: str, say: Words | None = None) -> SessionSummary:
        elsewhere = await self._elsewhere(session)
        if elsewhere is not None:
            await self._instruct(elsewhere, "resume", words=say)
            return await self.session(session)
        with desk_errors():
            resumed = await self._supervisor.resume(session, say, self.person, self.source)
        await self._record("session resumed", session=resumed.id)
        return await self._summary(resumed)

    async def fork(self, session: str, say: Words) -> SessionSummary:
        elsewhere = await self._elsewhere(session)
        if elsewhere is not None:
            return await self.session(await self._instruct(elsewhere, "fork", words=say))
        with desk_errors():
            forked = await self._supervisor.fork(session, say, self.person, self.source)
        await self._record("session started", session=forked.id)
        return await self._summary(forked)

    async def remove(self, session: str) -> None:
        elsewhere = await self._elsewhere(session)
        if elsewhere is not None:
            await self._instruct(elsewhere, "remove")
            return
        with desk_errors():
            removed = await self._supervisor.remove(session, self.person)
        detail = {"name": removed.title, "directory": removed.directory}
        entry = Entry(self._clock(), "session removed", self.person, self.source, session=session, detail=detail)
        await self._store.apply([Record(entry)])

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

    async def answer_to(self, ask: Ask, answer: Answer, digest: str | None = None) -> AcceptedAnswer:
        """See `answer`, for an ask that was just read."""
        with desk_errors():
            return await self._inbox.answer_to(ask, answer, self.person, self.source, digest)

    async def items(
        self, session: str | None = None, *, after: int | None = None, before: int | None = None, limit: int = 500
    ) -> list[Item]:
        return await self._store.items(session=session, after=after, before=before, limit=limit)

    async def search(
        self,
        text: str,
        *,
        session: str | None = None,
        before: int | None = None,
        limit: int = 50,
        only: SearchFilter = NO_FILTER,
    ) -> SearchPage:
        query = await self._narrowed(read_query(text), only)
        pruned, newest = await self._store.cursors()
        end = min(newest + 1, newest + 1 if before is None else before)
        if only.until is not None:
            end = min(end, await self._first_at(only.until, pruned, newest))
        if only.since is not None:
            pruned = await self._first_at(only.since, pruned, newest) - 1
        found: list[SearchHit] = []
        # Piece by piece, so that other reads come in between, and no search takes for ever.
        for _ in range(_MOST_SLICES if query.words else 0):
            start = max(pruned, end - 1 - _SLICE)
            wanted = limit - len(found)
            found += await self._store.search(query, after=start, before=end, session=session, limit=wanted)
            if len(found) >= limit:
                return SearchPage(tuple(found), found[-1].cursor)
            end = start + 1
            if start <= pruned:
                return SearchPage(tuple(found))
        return SearchPage(tuple(found), end if query.words else None)

    async def _narrowed(self, query: Query, only: SearchFilter) -> Query:
        sessions: frozenset[str] | None = None
        if only.project is not None or only.state is not None:
            summaries = await self.sessions()
            sessions = frozenset(each.session.id for each in summaries if _is_meant(each, only))
        return replace(query, sessions=sessions, since=only.since, until=only.until, by=only.by)

    async def _first_at(self, moment: datetime, pruned: int, newest: int) -> int:
        """The cursor of the first item at this time or after it. Items are ordered by time, unless a clock was set."""
        low, high = pruned + 1, newest + 1
        while low < high:
            middle = (low + high) // 2
            found = await self._store.items(after=middle - 1, limit=1)
            if found and found[0].at < moment:
                low = found[0].cursor + 1
            else:
                high = middle
        return low

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
        if rule.expires_at is not None and rule.expires_at <= self._clock():
            raise Invalid(t("error.expiry_past"))
        if rule.mode is not None:
            _check_mode(rule.mode)
        if rule.project is not None:
            rule = await self._scoped(rule, rule.project)
        saved = replace(rule, id=self._spell("r"), made_by=self.person.name, made_at=self._clock(), source="person")
        with desk_errors():
            await self._inbox.save_rule(saved)
        await self._record("rule made", rule=saved.id)
        return saved

    async def _scoped(self, rule: Rule, named: str) -> Rule:
        """With a project's ID. A directory outside all projects is its own scope, as for its sessions, on a machine."""
        project = await self._store.project(named)
        if project is not None:
            return replace(rule, project=project.id)
        if not os.path.isabs(named):
            raise NotFound(t("error.no_project", project=named))
        if rule.machine in ("", self._store.machine):
            return replace(rule, project=_directory(named), machine=self._store.machine)
        machine = await self._machines.find(rule.machine)
        return replace(rule, project=normpath(named), machine=machine.id)

    async def trusts(self) -> list[DirectoryTrust]:
        return await self._store.trusts()

    async def revoke_trust(self, directory: str, machine: str = "") -> None:
        where = (await self._machines.find(machine)).id if machine else self._store.machine
        detail = {"directory": directory, **({"machine": where} if machine else {})}
        entry = Entry(self._clock(), "trust revoked", self.person, self.source, detail=detail)
        decided = [each.machine or self._store.machine for each in await self.trusts() if each.directory == directory]
        if where not in decided:
            raise NotFound(t("error.no_trust", directory=directory))
        await self._store.apply([RevokeTrust(directory, machine and where), Record(entry)])

    async def projects(self) -> list[Project]:
        return await self._store.projects()

    async def add_project(self, path: str, name: str | None, options: Options, machine: str | None = None) -> Project:
        is_here = machine is None or (await self._machines.find(machine)).id == self._store.machine
        directory = _directory(path) if is_here else normpath(path)
        named = _named(name or os.path.basename(directory) or directory)
        project = Project(self._spell("p"), named, directory if is_here else "", options, self._clock())
        if machine is not None and not is_here:
            project = await self._machines.placed(project, path, machine)
        await self._save(project, "project added")
        return project

    async def change_project(
        self,
        project: str,
        name: str | None,
        options: Options | None,
        path: str | None = None,
        machine: str | None = None,
    ) -> Project:
        found = await self._store.project(project)
        if found is None:
            raise NotFound(t("error.no_project", project=project))
        changed = replace(found, name=_named(name) if name else found.name, options=options or found.options)
        if path is not None:
            is_here = machine is None or (await self._machines.find(machine)).id == self._store.machine
            if machine is None or is_here:
                changed = replace(changed, path=_directory(path) if path else "")
            else:
                changed = await self._machines.placed(changed, path, machine)
        await self._save(changed, "project changed")
        return changed

    async def remove_project(self, project: str) -> None:
        found = await self._store.project(project)
        if found is None:
            raise NotFound(t("error.no_project", project=project))
        applied = await self._store.apply([RemoveProject(found.id)])
        if not applied.took[0]:
            raise Refused(t("error.project_in_use"))
        detail = {"project": found.id, "name": found.name, "path": found.path}
        entry = Entry(self._clock(), "project removed", self.person, self.source, detail=detail)
        # They can't apply anywhere any more; if the hub dies before this, they only stay in the list.
        rules = [RemoveRule(each.id) for each in self._inbox.rules if each.project == found.id]
        await self._store.apply([*rules, Record(entry)])
        await self._inbox.read_rules()

    async def machines(self) -> list[MachineSummary]:
        return await self._machines.summaries()

    async def rename_machine(self, machine: str, name: str) -> Machine:
        found, named = await self._machines.find(machine), _named(name)
        entry = self._about_machine("machine renamed", found, {"to": named})
        try:
            await self._store.apply([RenameMachine(found.id, named, self._clock()), Record(entry)])
        except StoreConflict as error:
            raise Refused(t("error.machine_name_taken", name=name)) from error
        return await self._machines.find(found.id)

    async def forget_machine(self, machine: str) -> None:
        found = await self._machines.find(machine)
        applied = await self._store.apply([ForgetMachine(found.id, self._clock())])
        if not applied.took[0]:
            raise Refused(t("error.machine_in_use", name=found.name))
        await self._store.apply([Record(self._about_machine("machine forgotten", found, {}))])

    def _about_machine(self, what: What, machine: Machine, more: dict[str, str]) -> Entry:
        detail = {"machine": machine.id, "name": machine.name, **more}
        return Entry(self._clock(), what, self.person, self.source, detail=detail)

    async def instructions(self, session: str) -> list[Instruction]:
        return await self._store.instructions(session=session)

    async def withdraw_instruction(self, instruction: str) -> None:
        applied = await self._store.apply([SettleInstruction(instruction, "withdrawn", self._clock())])
        if applied.took[0]:
            return
        if await self._store.instruction(instruction) is None:
            raise NotFound(t("error.no_instruction", instruction=instruction))
        raise Refused(t("error.machine.begun"))

    async def withdraw_say(self, say: str) -> None:
        session = await self._session_of(say)
        if session.phase == "queued" and not session.run and len(await self._store.says(session.id)) == 1:
            raise Refused(t("error.machine.only_message"))
        if session.phase != "queued" and not await self._machines.is_away(session):
            raise Refused(t("error.machine.being_sent"))
        applied = await self._store.apply([WithdrawSay(say, self._clock())])
        if not applied.took[0]:
            raise Refused(t("error.machine.received"))

    async def _session_of(self, say: str) -> Session:
        for session in await self._store.sessions():
            if session.ended is None and any(each.id == say for each in await self._store.says(session.id)):
                return session
        raise NotFound(t("error.no_say", say=say))

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
        places = set(places_of(project, self._store.machine))
        for each in await self._store.projects():
            if each.id != project.id and places.intersection(places_of(each, self._store.machine)):
                return t("error.directory_taken", name=each.name)
            if each.id != project.id and each.name == project.name:
                return t("error.name_taken", name=each.name)
        return None

    async def _record(self, what: What, *, session: str | None = None, rule: str | None = None) -> None:
        entry = Entry(self._clock(), what, self.person, self.source, session=session, rule=rule)
        await self._store.apply([Record(entry)])

    def _spell(self, prefix: Prefix) -> str:
        return ids.spell(prefix, self._entropy(ids.ENTROPY))

    async def _wish(self, session: str, wish: Wish, kind: InstructionKind, value: str = "") -> None:
        elsewhere = await self._elsewhere(session)
        if elsewhere is not None:
            await self._instruct(elsewhere, kind, value)
            return
        with desk_errors():
            await self._supervisor.wish(session, wish)

    async def _elsewhere(self, session: str) -> Session | None:
        """The session, if another hub runs it."""
        found = await self._store.session(session)
        return None if found is None or self._supervisor.owns(found) else found

    async def _instruct(
        self, session: Session, kind: InstructionKind, value: str = "", words: Words | None = None
    ) -> str:
        with desk_errors():
            return await self._dispatcher.give(session, kind, self.person, self.source, value, words)

    async def _summary(self, session: Session) -> SessionSummary:
        open_asks, lines = await self._store.open_asks(), await self._store.last_lines(session.id)
        return SessionSummary(session, open_asks.get(session.id, 0), lines.get(session.id, ""))


class LocalFollower:
    """See `Follower`."""

    def __init__(self, follower: feeds.FeedFollower) -> None:
        self._follower = follower

    def __aiter__(self) -> "LocalFollower":
        return self

    @property
    def is_idle(self) -> bool:
        """Whether everything was delivered."""
        return self._follower.is_idle

    def hand_to(self, taker: feeds.Taker) -> None:
        """Live news goes there first, before anyone is woken for it (see `FeedFollower`)."""
        self._follower.taker = taker

    async def __anext__(self) -> Sequence[Item] | Preview:
        with desk_errors():
            return await anext(self._follower)


def _check_mode(mode: str | None) -> None:
    if mode is not None and mode not in MODES:
        raise Invalid(t("error.option.one_of", key="mode", values=", ".join(MODES)))


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
