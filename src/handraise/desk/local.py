"""The desk by straight calls, inside the hub."""

import os
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

from handraise import feed as feeds
from handraise.desk.interface import Conflict, Given, LostPlace, NotFound, Partial, Refused, Seen, TooLate, Unfit, Words
from handraise.feed import Feed
from handraise.inbox import errors
from handraise.inbox.inbox import Inbox
from handraise.model.actors import Person
from handraise.model.answers import Answer, Misfit
from handraise.model.asks import Ask, Kind, State
from handraise.model.items import Item
from handraise.model.projects import Project
from handraise.model.rules import Rule
from handraise.model.says import Say
from handraise.model.sessions import Session
from handraise.session import machine
from handraise.session.facts import ChangeMode, ChangeModel, Interrupt, Stop, Wish
from handraise.session.supervisor import Beginning, NoSuchSession, Supervisor
from handraise.store.interface import Store


class LocalDesk:
    """See `Desk`. `person` acts, `source` is the surface it comes from."""

    def __init__(
        self, person: Person, source: str, *, store: Store, feed: Feed, inbox: Inbox, supervisor: Supervisor
    ) -> None:
        self.person = person
        self.source = source
        self._store = store
        self._feed = feed
        self._inbox = inbox
        self._supervisor = supervisor

    def seat(self, person: Person, source: str) -> "LocalDesk":
        """The same desk with somebody else at it."""
        return LocalDesk(
            person, source, store=self._store, feed=self._feed, inbox=self._inbox, supervisor=self._supervisor
        )

    async def start(
        self, say: Words, project: str, *, mode: str | None = None, model: str | None = None, title: str | None = None
    ) -> Seen:
        known = await self._store.project(project)
        directory = _directory(known.path if known else project)
        beginning = Beginning(say, directory, known, mode, model, title)
        return await self._seen(await self._supervisor.start(beginning, self.person, self.source))

    async def sessions(self) -> list[Seen]:
        open_asks = await self._store.open_asks()
        return [Seen(session, open_asks.get(session.id, 0)) for session in await self._store.sessions()]

    async def session(self, session: str) -> Seen:
        found = await self._store.session(session)
        if found is None:
            raise NotFound(f"There is no session {session}.")
        return await self._seen(found)

    async def say(self, session: str, say: Words, say_id: str | None = None) -> Say:
        with _in_words():
            return await self._supervisor.say(session, say, self.person, self.source, say_id)

    async def interrupt(self, session: str) -> None:
        await self._wish(session, Interrupt())

    async def stop(self, session: str) -> None:
        await self._wish(session, Stop(f"{self.person.name} stopped it"))

    async def change_mode(self, session: str, mode: str) -> None:
        await self._wish(session, ChangeMode(mode))

    async def change_model(self, session: str, model: str) -> None:
        await self._wish(session, ChangeModel(model))

    async def resume(self, session: str, say: Words | None = None) -> Seen:
        with _in_words():
            return await self._seen(await self._supervisor.resume(session, say, self.person, self.source))

    async def fork(self, session: str, say: Words) -> Seen:
        with _in_words():
            return await self._seen(await self._supervisor.fork(session, say, self.person, self.source))

    async def asks(
        self, *, state: State | None = "open", kind: Kind | None = None, session: str | None = None
    ) -> list[Ask]:
        return await self._store.asks(state=state, kind=kind, session=session)

    async def ask(self, ask: str) -> Ask:
        found = await self._store.ask(ask)
        if found is None:
            raise NotFound(f"There is no ask {ask}.")
        return found

    async def answer(self, ask: str, answer: Answer, digest: str | None = None) -> Given:
        with _in_words():
            given = await self._inbox.answer(ask, answer, self.person, self.source, digest)
        return Given(given.ask, given.late)

    async def items(
        self, session: str | None = None, *, after: int | None = None, before: int | None = None, limit: int = 500
    ) -> list[Item]:
        return await self._store.items(session=session, after=after, before=before, limit=limit)

    async def newest(self) -> int:
        _, newest = await self._store.cursors()
        return newest

    @asynccontextmanager
    async def follow(self, after: int | None = None, session: str | None = None) -> AsyncIterator["LocalFollower"]:
        with _in_words():
            async with self._feed.follow(after, session) as follower:
                yield LocalFollower(follower)

    async def rules(self) -> list[Rule]:
        return list(self._inbox.rules)

    async def revoke(self, rule: str) -> None:
        if not await self._inbox.remove_rule(rule):
            raise NotFound(f"There is no rule {rule} here; what is in the settings is changed there.")

    async def projects(self) -> list[Project]:
        return await self._store.projects()

    async def _wish(self, session: str, wish: Wish) -> None:
        with _in_words():
            await self._supervisor.wish(session, wish)

    async def _seen(self, session: Session) -> Seen:
        return Seen(session, (await self._store.open_asks()).get(session.id, 0))


class LocalFollower:
    """See `Follower`."""

    def __init__(self, follower: feeds.Follower) -> None:
        self._follower = follower

    def __aiter__(self) -> "LocalFollower":
        return self

    async def __anext__(self) -> Sequence[Item] | Partial:
        news = await anext(self._follower)
        if isinstance(news, feeds.Preview):
            return Partial(news.session, news.message, news.index, news.kind, news.text, news.parent)
        return news


def _directory(named: str) -> str:
    if not os.path.isabs(named):
        raise NotFound(f"There is no project {named!r}; name a known one, or an absolute path.")
    if not os.path.isdir(named):
        raise NotFound(f"There is no directory {named}.")
    return named


@contextmanager
def _in_words() -> Iterator[None]:
    """Says the stations' errors as the desk's own."""
    try:
        yield
    except (NoSuchSession, errors.NoSuchAsk) as error:
        raise NotFound(str(error)) from error
    except machine.Refused as error:
        raise Refused(str(error)) from error
    except Misfit as error:
        raise Unfit(str(error)) from error
    except (errors.AlreadySettled, errors.NotWhatWasShown) as error:
        raise Conflict(str(error), error.ask) from error
    except errors.AlreadyWithdrawn as error:
        raise TooLate(str(error), error.ask) from error
    except feeds.CursorGone as error:
        raise LostPlace(error.oldest, error.newest) from error
