"""A torture test: three hubs on one database. Hubs, the database and what is between them fail, again and again."""

import asyncio
import random
import re
import signal
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TypeVar
from uuid import NAMESPACE_URL, uuid5

import msgspec
import pytest
from msgspec.structs import replace

from handraise.demo.model import EACH_SESSION, ScriptedModel
from handraise.demo.pieces import Script, Scripted, say, use
from handraise.demo.request import Conversation, Request
from handraise.desk.interface import Conflict, DeskError, Invalid, NotFound, Refused, TooLate, Unfit, Waiting
from handraise.desk.remote import RemoteDesk
from handraise.model.actors import Person
from handraise.model.asks import Answered, Ask, Permission, Question, Withdrawn
from handraise.model.items import (
    AskDelivered,
    AskOpened,
    AskSettled,
    Content,
    Frame,
    InstructionGiven,
    InstructionSettled,
    Item,
    MachineChanged,
    Notice,
    Preview,
    Said,
    SaidTaken,
    SessionChanged,
    SessionEnded,
    SessionStarted,
    TurnEnded,
)
from handraise.model.own_tools import ASK_USER, qualified
from handraise.model.projects import Options
from postgres.cluster import Cluster
from postgres.fixtures import READY
from postgres.proxy import Proxy
from stories.hub_process import NEXT, OVER, STEERED, STEERING, answer_to
from stories.outsiders import Agent, Yard
from stories.sites import AGAIN, ServedSite
from stories.test_torture import FORMS, KINDS, RUN, telling

T = TypeVar("T")

MACHINES = ("alder", "birch", "cedar")
SILENCE = 240.0
"""After this many seconds without news, the story is stuck."""
PATIENCE = 10.0
"""How long a person waits for a hub that says nothing, before trying another one."""
PAGE = 500
QUESTION = "Is {} enough?"
NO_HUB = "No Handraise hub is running"
EXPECTED = re.compile(r"error=Store(?:Away|Fenced|Closed)\b|: Store(?:Away|Fenced)\b|Another hub has taken over")
"""What hubs may log as errors: the database was away, or another hub has the machine."""
FINAL = (Conflict, TooLate, Refused, NotFound, Unfit, Invalid)


class RovingPerson:
    """A person who reads and answers at any hub, and repeats what a hub didn't confirm: it must count once."""

    def __init__(self, sites: Sequence[ServedSite], dice: random.Random) -> None:
        self.sites = list(sites)
        self.dice = dice
        self.seen: list[Item] = []
        self.answers = 0
        self.news = asyncio.Event()
        self.unfinished: set[str] = set()
        self.wrong: list[str] = []

    async def wait_for(self, agent: Agent) -> None:
        self.unfinished.add("an agent")
        assert agent.process.stdout is not None
        async for line in agent.process.stdout:
            agent.frames.append(msgspec.json.decode(line))
        assert agent.frames[-1].get("result") == OVER, agent.frames[-1]
        self.unfinished.discard("an agent")

    async def insist(self, do: Callable[[RemoteDesk], Awaitable[T]]) -> T:
        """At one hub after the other, until one has confirmed it or refused it for a reason."""
        async with asyncio.timeout(SILENCE):
            while True:
                try:
                    async with asyncio.timeout(PATIENCE), self.dice.choice(self.sites).desk() as desk:
                        return await do(desk)
                except FINAL:
                    raise
                except (DeskError, TimeoutError, OSError):
                    await asyncio.sleep(AGAIN)

    async def attend(self) -> None:
        """Follows the feed, each time at another hub, until every session has ended."""
        async with asyncio.TaskGroup() as tasks:
            heard = asyncio.get_running_loop().time()
            while self.unfinished:
                try:
                    async with (
                        asyncio.timeout(self.dice.uniform(1, 5)),
                        self.dice.choice(self.sites).desk() as desk,
                        desk.follow(len(self.seen)) as follower,
                    ):
                        async for news in follower:
                            for item in () if isinstance(news, Preview) else news:
                                heard = asyncio.get_running_loop().time()
                                self._take(item, tasks)
                            if not self.unfinished:
                                break
                except (DeskError, TimeoutError, OSError) as error:
                    if not isinstance(error, TimeoutError) and "position in the feed" in str(error):
                        self.wrong.append(str(error))
                    await asyncio.sleep(AGAIN)
                assert asyncio.get_running_loop().time() < heard + SILENCE, f"nothing happens: {self.unfinished}"

    def _take(self, item: Item, tasks: asyncio.TaskGroup) -> None:
        assert item.cursor == len(self.seen) + 1, "a cursor was left out or came twice"
        self.seen.append(item)
        session = item.session
        match item.read():
            case AskOpened(ask) if session is None:
                tasks.create_task(self._answer_agent(ask["id"]))
            case AskOpened(ask):
                tasks.create_task(self._answer(ask["id"]))
            case TurnEnded(result=result) if session and result.startswith(NEXT):
                tasks.create_task(self._go_on(session, result))
            case TurnEnded(result=result) if session and result == OVER:
                tasks.create_task(self._stop(session))
            case SessionEnded() if session:
                self.unfinished.discard(session)

    async def _answer(self, ask_id: str) -> None:
        ask = await self.insist(lambda desk: desk.ask(ask_id))
        if ask.state != "open":
            return
        assert ask.session is not None
        if isinstance(ask.body, Permission) and STEERING in (command := ask.body.input.get("command", "")):
            await self._say(ask.session, STEERED + command.partition(STEERING)[2])
        # Sometimes at two hubs at once, as two people do.
        await asyncio.gather(*(self._give(ask) for _ in range(self.dice.choice((1, 1, 2)))))
        self.answers += 1
        self.news.set()

    async def _answer_agent(self, ask_id: str) -> None:
        ask = await self.insist(lambda desk: desk.ask(ask_id))
        if ask.state == "open":
            await self._give(ask)

    async def _give(self, ask: Ask) -> None:
        try:
            await self.insist(lambda desk: desk.answer(ask.id, answer_to(ask), ask.digest))
        except Conflict as error:  # given before, and not confirmed
            if error.ask.state != "answered":
                self.wrong.append(f"{ask.id} is {error.ask.state}")

    async def _go_on(self, session: str, text: str) -> None:
        await self._rename(session, text)
        await self._say(session, text)

    async def _rename(self, session: str, title: str) -> None:
        """An instruction that may be refused because nobody knows whether it was done; then it is given again."""
        while True:
            try:
                await self.insist(lambda desk: desk.rename(session, title))
            except Refused:
                await asyncio.sleep(AGAIN)
            else:
                return

    async def _say(self, session: str, text: str) -> None:
        name = str(uuid5(NAMESPACE_URL, session + text))
        try:
            await self.insist(lambda desk: desk.say(session, text, name))
        except Refused:
            pass  # sent before, and the session has ended since

    async def _stop(self, session: str) -> None:
        while True:
            try:
                await self.insist(lambda desk: desk.stop(session))
            except Waiting:
                pass
            except Refused:
                await asyncio.sleep(AGAIN)  # it has ended, or the machine restarted before it was done
            if session not in self.unfinished:
                return


class Torture:
    """Faults of every kind. Several can happen at once, but only one at a time to a machine."""

    def __init__(self, cluster: Cluster, attendant: RovingPerson, dice: random.Random, stack: AsyncExitStack) -> None:
        self._cluster = cluster
        self._attendant = attendant
        self._dice = dice
        self._stack = stack
        self._locks: defaultdict[object, asyncio.Lock] = defaultdict(asyncio.Lock)
        self.done: Counter[str] = Counter()
        self.usual = (
            *(self.kill_hub,) * 5, self.kill_database, *(self.cut,) * 2, *(self.cut_a_commit,) * 3,
            *(self.freeze,) * 2, self.refuse, *(self.stun_hub,) * 2, self.stun_database,
        )  # fmt: skip
        self.rare = (self.copy_state, self.copy_state, self.be_away, self.sleep)

    async def cause(self, fault: Callable[[ServedSite], Awaitable[None]]) -> None:
        # An agent asks at the first machine, and knows one state folder only.
        first = 1 if fault == self.copy_state else 0
        site = self._dice.choice(sorted(self._attendant.sites, key=lambda each: each.name)[first:])
        of_database = fault.__name__.endswith("database")
        async with self._locks["database" if of_database else site.name]:
            if site in self._attendant.sites:
                causing = asyncio.ensure_future(fault(site))
                try:
                    await asyncio.shield(causing)
                finally:  # whole, even if the story ends meanwhile: half a fault may leave a machine without a hub
                    await causing
                    self.done[fault.__name__] += 1

    async def pause(self, longest: float) -> None:
        # Seeded delays between faults are the point of the story: one may come at any time.
        await asyncio.sleep(self._dice.uniform(0, longest))

    async def answered(self, more: int) -> None:
        """Waits for this many more answers."""
        wanted = self._attendant.answers + more
        while self._attendant.answers < wanted:
            self._attendant.news.clear()
            await self._attendant.news.wait()

    async def kill_hub(self, site: ServedSite) -> None:
        site.kill()

    async def kill_database(self, _: ServedSite) -> None:
        await asyncio.to_thread(self._cluster.kill)
        await self.pause(1)
        await asyncio.to_thread(self._cluster.start)

    async def cut(self, site: ServedSite) -> None:
        site.proxy.cut()

    async def cut_a_commit(self, site: ServedSite) -> None:
        """Whether it reached the server or not: nobody hears of it."""
        site.proxy.cut_at(b"COMMIT", forward=self._dice.random() < 0.7)

    async def freeze(self, site: ServedSite) -> None:
        site.proxy.freeze()
        await self.pause(2)
        if self._dice.random() < 0.5:
            site.proxy.cut()
        site.proxy.thaw()

    async def refuse(self, site: ServedSite) -> None:
        site.proxy.refusing = True
        site.proxy.cut()
        await self.pause(2)
        site.proxy.refusing = False

    async def stun_hub(self, site: ServedSite) -> None:
        site.signal(signal.SIGSTOP)
        await self.pause(1)
        site.signal(signal.SIGCONT)

    async def stun_database(self, _: ServedSite) -> None:
        self._cluster.freeze()
        await self.pause(1)
        self._cluster.thaw()

    async def copy_state(self, site: ServedSite) -> None:
        """A second hub on a copy. It waits until the first says nothing; that one wakes up, and lets go.

        Then one of them is ended.
        """
        await site.up()
        twin = site.copied()
        await self._stack.enter_async_context(twin.kept())
        await until(lambda: self._is_refused(site, twin))
        site.signal(signal.SIGSTOP)
        await twin.up()
        self._attendant.sites.append(twin)
        site.signal(signal.SIGCONT)
        await until(lambda: self._has_let_go(site, twin))
        stays, goes = (twin, site) if self._dice.random() < 0.6 else (site, twin)
        goes.leave()
        self._attendant.sites.remove(goes)
        if stays is site:
            site.kill()  # it doesn't take the machine back by itself: a person starts it again

    async def _is_refused(self, site: ServedSite, twin: ServedSite) -> bool:
        """Unless another fault kept the first hub away from the database for long enough."""
        return twin.has_logged("Another hub is running as this machine") or await self._has_let_go(site, twin)

    async def _has_let_go(self, site: ServedSite, twin: ServedSite) -> bool:
        try:
            return "Another hub has taken over" in await site.trouble() and not await twin.trouble()
        except (DeskError, OSError):
            return False

    async def be_away(self, site: ServedSite) -> None:
        """For longer than the lease, without a hub."""
        site.leave()
        await until(lambda: self._is_away(site))
        await self.pause(1)
        site.come_back()

    async def sleep(self, site: ServedSite) -> None:
        """As a laptop does: it wakes with everything as it was, and finds that it has been away."""
        site.signal(signal.SIGSTOP)
        await until(lambda: self._is_away(site))
        site.signal(signal.SIGCONT)

    async def _is_away(self, site: ServedSite) -> bool:
        others = [each for each in self._attendant.sites if each is not site]
        try:
            async with asyncio.timeout(PATIENCE), self._dice.choice(others).desk() as desk:
                machines = {each.machine.id: each.machine for each in await desk.machines()}
        except (DeskError, TimeoutError, OSError):
            return False
        return machines[site.machine].away_since is not None


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(SILENCE):
        while not await holds():
            await asyncio.sleep(AGAIN)


async def play(
    tmp: Path,
    cluster: Cluster,
    dice: random.Random,
    faults: Callable[[Torture], Coroutine[None, None, None]],
    *,
    parts: int,
    questions: int,
    at_once: int = 1,
) -> Counter[str]:
    """The whole story. Afterwards every hub must show the same, and each thing once.

    Each session has `parts`, and an agent outside asks this many `questions`; `at_once` faults can happen together.
    """
    database = cluster.create(READY)
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ScriptedModel({"script": telling(parts)}, stretch=0))
        sites = []
        for name in MACHINES:
            proxy = await stack.enter_async_context(Proxy(cluster.port))
            url = cluster.url(database, port=proxy.port)
            site = ServedSite(name, tmp / name, proxy, url, model.url("script", EACH_SESSION))
            (tmp / name / "home").mkdir(parents=True)
            servers = {"mcpServers": {"forms": {**FORMS, "alwaysLoad": True}}}
            (tmp / name / "home" / ".claude.json").write_bytes(msgspec.json.encode(servers))
            await stack.enter_async_context(site.kept())
            sites.append(site)
        await asyncio.gather(*(site.up() for site in sites))
        attendant = RovingPerson(sites, dice)
        torture = Torture(cluster, attendant, dice, stack)
        try:
            sessions = await begin(attendant)
            agent = await stack.enter_async_context(outside(tmp / "agent", sites[0], questions))
            await until(lambda: has_asked(sites[0]))
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(attendant.wait_for(agent))
                tormenting = [tasks.create_task(faults(torture)) for _ in range(at_once)]
                await attendant.attend()
                for each in tormenting:
                    each.cancel()
            cluster.thaw()
            for site in attendant.sites:
                site.proxy.thaw()
                site.proxy.refusing = False
                site.signal(signal.SIGCONT)
            # The last answers are confirmed by Claude, and the last words of every hub are read by all.
            await until(lambda: settled(attendant.sites))
            await check(attendant, sessions, model, parts, questions)
        finally:
            cluster.thaw()
            await end_all(attendant.sites)
    for site in sites:
        lines = [line for log in site.folder.glob("hub-of-*.log") for line in log.read_text().splitlines()]
        troubles = [line for line in lines if "level=error" in line or "Traceback" in line]
        assert [line for line in troubles if not EXPECTED.search(line)] == []
    return torture.done


def asking(questions: int) -> Scripted:
    def script(conversation: Conversation) -> Script:
        for each in range(questions):
            options = [{"label": "left"}, {"label": "right"}]
            answer = ""
            while answer != "User selected: left":
                conversation = yield [use(qualified(ASK_USER), question=QUESTION.format(each), options=options)]
                answer = conversation.result().text
                # Without a hub for some seconds, nobody can be asked: an agent that wants to know asks again.
                assert answer == "User selected: left" or answer.startswith(NO_HUB)
        yield [say(OVER)]

    return script


@asynccontextmanager
async def outside(tmp: Path, site: ServedSite, questions: int) -> AsyncIterator[Agent]:
    """A Claude that we did not start, and that asks through our relay on a machine."""
    tmp.mkdir()
    async with Yard(tmp, asking(questions)) as yard:
        async with yard.agent(yard.stdio(site.state), f"--allowedTools={qualified(ASK_USER)}") as agent:
            yield agent
        assert yard.model.errors == []


async def has_asked(site: ServedSite) -> bool:
    async with site.desk() as desk:
        return any(ask.session is None for ask in await desk.asks())


async def begin(attendant: RovingPerson) -> dict[str, ServedSite]:
    """A session on each machine, started at another one."""
    sessions = {}
    for place, site in enumerate(attendant.sites):
        async with site.desk() as desk:
            await desk.add_project(str(site.work), f"of {site.name}", Options())
        async with attendant.sites[place - 1].desk() as desk:
            started = await desk.start(f"{NEXT}1.", f"of {site.name}", title="Torture", machine=site.name)
        sessions[started.session.id] = site
    attendant.unfinished.update(sessions)
    return sessions


async def settled(sites: Sequence[ServedSite]) -> bool:
    """Whether nothing is under way, and every hub has read everything."""
    newest = set()
    for site in sites:
        try:
            async with asyncio.timeout(PATIENCE), site.desk() as desk:
                if await site.trouble() or await desk.asks():
                    return False
                newest.add(await desk.newest())
                for each in await desk.sessions():
                    if each.session.phase != "ended" or await desk.instructions(each.session.id):
                        return False
        except (DeskError, TimeoutError, OSError):
            return False
    return len(newest) == 1


async def end_all(sites: Sequence[ServedSite]) -> None:
    """Whatever a failed story left running."""
    for site in sites:
        site.proxy.thaw()
        site.proxy.refusing = False
        site.signal(signal.SIGCONT)
        site.come_back()
        await site.up()
        async with site.desk() as desk:
            for each in await desk.sessions():
                if each.session.machine == site.machine and each.session.phase != "ended":
                    try:
                        await desk.stop(each.session.id)
                    except DeskError:
                        pass


async def all_items(desk: RemoteDesk) -> list[Item]:
    items: list[Item] = []
    while True:
        page = await desk.items(after=items[-1].cursor if items else 0, limit=PAGE)
        items += page
        if len(page) < PAGE:
            return items


async def check(
    attendant: RovingPerson, sessions: dict[str, ServedSite], model: ScriptedModel, parts: int, questions: int
) -> None:
    assert attendant.wrong == []
    assert model.errors == [], "\n".join(model.errors)
    shown, asked, seen = [], [], []
    for site in attendant.sites:
        async with site.desk() as desk:
            shown.append(await all_items(desk))
            asked.append(await desk.asks(state=None))
            seen.append([each.session for each in await desk.sessions()])
    assert all(each == shown[0] for each in shown), "hubs show different timelines"
    assert all(each == asked[0] for each in asked), "hubs show different asks"
    assert all(each == seen[0] for each in seen), "hubs show different sessions"
    assert [item.cursor for item in shown[0]] == list(range(1, len(shown[0]) + 1))
    assert shown[0][: len(attendant.seen)] == attendant.seen
    assert {session.id for session in seen[0]} == set(sessions)
    outside = [ask for ask in asked[0] if ask.session is None]
    heard = [asked_in(ask) for ask in outside if isinstance(ask.settlement, Answered) and ask.delivered_at]
    assert sorted(heard) == sorted(QUESTION.format(each) for each in range(questions))
    assert all(isinstance(ask.settlement, Answered | Withdrawn) for ask in outside)
    instructions = [item.read() for item in shown[0] if item.content.startswith(b'{"type":"instruction.')]
    given = sorted(each.instruction for each in instructions if isinstance(each, InstructionGiven))
    assert sorted(each.instruction for each in instructions if isinstance(each, InstructionSettled)) == given
    timelines = []
    for session in seen[0]:
        site = sessions[session.id]
        contents = [item.read() for item in shown[0] if item.session == session.id]
        check_session(contents, [ask for ask in asked[0] if ask.session == session.id], parts)
        log = (site.work / "log.txt").read_text().split()
        assert log == [f"{part}-{word}" for part in range(1, parts + 1) for word in RUN]
        requested = heard_by(model.requests("script", session.claude_id))
        for part in range(1, parts + 1):
            assert requested.count(f"{NEXT}{part}.") == 1
            assert requested.count(f"{STEERED}{part}.") == 1
        assert session.machine == site.machine
        timelines.append(timeline(contents, site))
    for each in timelines:
        assert each == timelines[0]


def check_session(contents: Sequence[Content], asks: Sequence[Ask], parts: int) -> None:
    """Every ask is opened, settled and delivered once, by the answer that was given."""
    endings = [each for each in contents if isinstance(each, Notice | SessionStarted | SessionEnded | TurnEnded)]
    assert [ask.kind for ask in asks] == KINDS * parts, endings
    assert all(ask.delivered_at for ask in asks)
    answered = [(ask, ask.settlement) for ask in asks if isinstance(ask.settlement, Answered)]
    by_person = [(ask, settled) for ask, settled in answered if isinstance(settled.by, Person)]
    assert [settled.answer for _, settled in by_person] == [answer_to(ask) for ask, _ in by_person]
    assert (len(answered), len(by_person)) == (len(asks), len(asks) - parts)
    once = sorted(ask.id for ask in asks)
    assert sorted(each.ask["id"] for each in contents if isinstance(each, AskOpened)) == once
    assert sorted(each.ask for each in contents if isinstance(each, AskSettled)) == once
    assert sorted(each.ask for each in contents if isinstance(each, AskDelivered)) == once
    messages = [each.say for each in contents if isinstance(each, Said)]
    received = [each.say for each in contents if isinstance(each, SaidTaken)]
    assert len(messages) == len(set(messages)) == 2 * parts
    assert sorted(received) == sorted(messages)


def asked_in(ask: Ask) -> str:
    return ask.body.questions[0].question if isinstance(ask.body, Question) else ""


def heard_by(requests: Sequence[Request]) -> str:
    last = [request for request in requests if not request.is_side][-1]
    return str([message for message in last.messages if message["role"] != "assistant"])


def timeline(contents: Sequence[Content], site: ServedSite) -> list[str]:
    """In words that are the same for every session of the story, without what a fault may add."""
    names: dict[str, str] = {}
    lines = []
    for content in filter(None, map(_comparable, contents)):
        line = msgspec.json.encode(content).decode().replace(str(site.work), "WORK").replace(str(site.folder), "SITE")
        line = _TIME.sub("TIME", line.replace(f"of {site.name}", "PROJECT"))
        lines.append(_NAME.sub(lambda found: names.setdefault(found[0], f"<{len(names)}>"), line))
    return lines


_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
_NAME = re.compile(
    r"\b[asrpmi]_[0-9a-z]{16}\b|sha256:\w+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=plans/)[\w-]+"
    r"|(?<=projects/)[\w-]+|\b(?:msg|toolu|req)_\w+"
)


def _comparable(content: Content) -> Content | None:
    match content:
        case Notice() | SessionChanged() | InstructionGiven() | InstructionSettled() | MachineChanged():
            return None
        case Said() | SaidTaken() | AskSettled() | AskDelivered():
            return None  # given anywhere: when the machine hears of it varies, and that it is once was checked
        case Frame(frame={"subtype": "background_tasks_changed"}):
            return None  # said to a second greeting
        case SessionStarted(run=run) if run > 1:
            return None  # the hub was killed before Claude was started
        case TurnEnded():
            return replace(content, cost_usd=0, duration_ms=0, usage={}, context=0)
        case SessionEnded():
            return replace(content, exit_code=None)
        case _:
            return content


async def test_three_hubs_lose_nothing_and_do_nothing_twice(tmp_path: Path, own_cluster: Cluster) -> None:
    async def faults(torture: Torture) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(torture.cause(torture.copy_state))
            for fault in (
                *(torture.cut_a_commit,) * 2,
                torture.kill_database,
                *(torture.cut_a_commit,) * 3,
                torture.kill_hub,
                torture.freeze,
                torture.stun_hub,
                torture.cut,
            ):
                await torture.cause(fault)
                await torture.answered(2)

    done = await play(tmp_path, own_cluster, random.Random(1), faults, parts=1, questions=2)
    assert done["copy_state"] == done["kill_database"] == 1


@pytest.mark.torture
@pytest.mark.limit(3600)
@pytest.mark.parametrize("seed", range(1, 4))
async def test_three_hubs_with_hundreds_of_faults_lose_nothing(tmp_path: Path, own_cluster: Cluster, seed: int) -> None:
    dice = random.Random(seed)

    async def faults(torture: Torture) -> None:
        while True:
            rare = dice.random() < 0.06
            await torture.cause(dice.choice(torture.rare if rare else torture.usual))
            await torture.pause(4)

    done = await play(tmp_path, own_cluster, dice, faults, parts=8, questions=40, at_once=2)
    print(f"seed {seed}: {done.total()} faults, {dict(done)}")  # noqa: T201 (whoever repeats it needs the seed)
    assert done.total() > 50
