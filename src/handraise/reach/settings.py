"""What people set about notifications, as records that several hubs share. Checks what they typed."""

import asyncio
import importlib
import logging
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, time, tzinfo

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from handraise.channels.config import ChannelConfig, ChannelSecrets, ChannelUnusable, CheckedChannel, check
from handraise.desk.interface import Invalid, NotFound, Refused
from handraise.desk.shared import RecordChange
from handraise.model import ids
from handraise.reach.log import ReachRecords
from handraise.reach.model import ALL, Chain, ChainStep, Mute, QuietSettings, ToChannel, ToDevices, ToPerson
from handraise.reach.quiet import QuietWindow
from handraise.texts import t

KIND = "reach"
MOST_STEPS = 10
MOST_TARGETS = 10
LONGEST_STEP = 7 * 24 * 3600
MOST_CHANNELS = 20
"""Per person, and as many shared ones."""
MOST_MUTES = 100
_TRIES = 10

log = logging.getLogger("handraise.reach")


class StoredChannel(Struct, frozen=True):
    """A channel, whose it is (ALL: shared), and its secrets."""

    config: ChannelConfig
    secrets: ChannelSecrets
    owner: str
    created_at: datetime
    created_by: str

    @property
    def id(self) -> str:
        return self.config.id


class ReachSettings:
    """A copy of what is stored. `changed` is called whenever it isn't the same any more."""

    def __init__(
        self,
        records: ReachRecords,
        clock: Callable[[], datetime],
        entropy: Callable[[int], bytes],
        *,
        private: bool = False,
    ) -> None:
        self._records = records
        self._clock = clock
        self._entropy = entropy
        self.private = private
        """Whether channels may have addresses that aren't on the public internet."""
        self._stored: dict[str, bytes] = {}
        self.quiet: dict[str, QuietSettings] = {}
        self.windows: dict[str, QuietWindow] = {}
        self.mutes: dict[str, Mute] = {}
        self.channels: dict[str, StoredChannel] = {}
        self.chains: dict[str, Chain] = {}
        self.listeners: list[Callable[[], None]] = []

    @property
    def is_empty(self) -> bool:
        return not self._stored

    async def refresh(self) -> None:
        """Takes over what other hubs changed."""
        stored = await self._records.read(KIND)
        if stored != self._stored:
            self._stored = stored
            await self._read()
            for listener in self.listeners:
                listener()

    async def set_quiet(self, person: str, wanted: QuietSettings | None) -> None:
        """Raises Invalid."""
        if wanted is not None:
            await window_of(wanted)
        await self._save(f"quiet {person}", wanted)

    async def mute(
        self, person: str, by: str, *, session: str | None, project: str | None, until: datetime | None
    ) -> Mute:
        now = self._clock()
        if (session is None) == (project is None):
            raise Invalid(t("reach.error.mute_what"))
        if until is not None and until <= now:
            raise Invalid(t("reach.error.mute_past"))
        same = [
            each
            for each in self.mutes.values()
            if (each.person, each.session, each.project) == (person, session, project)
        ]
        if not same and sum(each.person == person for each in self.mutes.values()) >= MOST_MUTES:
            raise Refused(t("reach.error.too_many_mutes", most=MOST_MUTES))
        identity = same[0].id if same else ids.spell("q", self._entropy(ids.ENTROPY))
        made = Mute(identity, person, by, now, session, project, until)
        await self._save(f"mute {identity}", made)
        return made

    async def unmute(self, mute: str) -> None:
        if mute not in self.mutes:
            raise NotFound(t("reach.error.no_mute", mute=mute[:100]))
        await self._save(f"mute {mute}", None)

    async def prune(self) -> None:
        """Forgets mutes that have ended."""
        now = self._clock()
        for each in [one for one in self.mutes.values() if one.until is not None and one.until <= now]:
            await self._save(f"mute {each.id}", None)

    def channel(self, channel: str) -> StoredChannel:
        if channel not in self.channels:
            raise NotFound(t("reach.error.no_channel", channel=channel[:100]))
        return self.channels[channel]

    async def add_channel(
        self, owner: str, by: str, name: str, kind: str, fields: dict[str, str], *, with_content: bool
    ) -> StoredChannel:
        """Raises Invalid."""
        if sum(each.owner == owner for each in self.channels.values()) >= MOST_CHANNELS:
            raise Refused(t("reach.error.too_many_channels", most=MOST_CHANNELS))
        identity = ids.spell("c", self._entropy(ids.ENTROPY))
        checked = self._checked(identity, name, kind, fields, with_content=with_content)
        made = StoredChannel(checked.config, checked.secrets, owner, self._clock(), by)
        await self._save(f"channel {identity}", made)
        return made

    async def change_channel(
        self, channel: str, name: str | None, fields: dict[str, str] | None, *, with_content: bool | None
    ) -> StoredChannel:
        """What is None stays. A secret that isn't typed again stays. Raises Invalid."""
        before = self.channel(channel)
        checked = self._checked(
            channel,
            before.config.name if name is None else name,
            before.config.kind,
            {key: each for key, each in before.config.fields.items() if key != "service"} if fields is None else fields,
            with_content=before.config.with_content if with_content is None else with_content,
            secrets=before.secrets,
        )
        after = replace(before, config=checked.config, secrets=checked.secrets)
        await self._save(f"channel {channel}", after)
        return after

    async def remove_channel(self, channel: str) -> None:
        self.channel(channel)
        await self._save(f"channel {channel}", None)

    async def set_chain(self, project: str, steps: Sequence[ChainStep] | None) -> None:
        """None removes it. Raises Invalid."""
        if steps is None:
            await self._save(f"chain {project}", None)
            return
        self._check_steps(steps)
        ordered = tuple(sorted(steps, key=lambda each: each.after))
        await self._save(f"chain {project}", Chain(project, ordered))

    def _checked(
        self,
        identity: str,
        name: str,
        kind: str,
        fields: dict[str, str],
        *,
        with_content: bool,
        secrets: ChannelSecrets | None = None,
    ) -> CheckedChannel:
        try:
            return check(identity, name, kind, fields, with_content=with_content, private=self.private, before=secrets)
        except ChannelUnusable as error:
            raise Invalid(str(error)) from error

    def _check_steps(self, steps: Sequence[ChainStep]) -> None:
        if not 0 < len(steps) <= MOST_STEPS:
            raise Invalid(t("reach.error.steps", most=MOST_STEPS))
        for each in steps:
            if not 0 <= each.after <= LONGEST_STEP:
                raise Invalid(t("reach.error.delay", most=LONGEST_STEP))
            if not 0 < len(each.targets) <= MOST_TARGETS:
                raise Invalid(t("reach.error.targets", most=MOST_TARGETS))
            for target in each.targets:
                if isinstance(target, ToChannel):
                    self.channel(target.channel)
                if isinstance(target, ToPerson | ToDevices) and len(target.person) > 200:
                    raise Invalid(t("reach.error.person"))
                if isinstance(target, ToPerson) and target.person == ALL:
                    raise Invalid(t("reach.error.person"))

    async def _save(self, key: str, value: Struct | None) -> None:
        encoded = None if value is None else msgspec.json.encode(value)
        for _ in range(_TRIES):
            before = self._stored.get(key)
            if before == encoded:
                return
            took = await self._records.save(KIND, [RecordChange(key, encoded, before)])
            await self.refresh()
            if all(took) or self._stored.get(key) == encoded:
                return
        raise Refused(t("reach.error.busy_database"))

    async def _read(self) -> None:
        """All at once: nobody sees half of it."""
        quiet: dict[str, QuietSettings] = {}
        mutes: dict[str, Mute] = {}
        channels: dict[str, StoredChannel] = {}
        chains: dict[str, Chain] = {}
        for key, value in self._stored.items():
            what, _, name = key.partition(" ")
            try:
                match what:
                    case "quiet":
                        quiet[name] = msgspec.json.decode(value, type=QuietSettings)
                    case "mute":
                        mutes[name] = msgspec.json.decode(value, type=Mute)
                    case "channel":
                        channels[name] = msgspec.json.decode(value, type=StoredChannel)
                    case "chain":
                        chains[name] = msgspec.json.decode(value, type=Chain)
            except msgspec.MsgspecError:
                # A newer hub with the same database may know more.
                log.warning("a setting of notifications can't be read: %s", what)
        windows: dict[str, QuietWindow] = {}
        for person, wanted in quiet.items():
            try:
                windows[person] = await window_of(wanted)
            except Invalid:
                log.warning("the quiet hours of a person can't be used: their time zone is unknown here")
        self.quiet, self.mutes, self.channels, self.chains, self.windows = quiet, mutes, channels, chains, windows


async def window_of(wanted: QuietSettings) -> QuietWindow:
    """Raises Invalid for times or a time zone that don't exist."""
    start, end = _time(wanted.start), _time(wanted.end)
    if start == end:
        raise Invalid(t("reach.error.same_times"))
    zone = await asyncio.to_thread(zone_named, wanted.time_zone)
    return QuietWindow(start, end, zone, wanted.urgent_gets_through)


def zone_named(name: str) -> tzinfo:
    """Raises Invalid. Reads a file, or the package of time zones."""
    zoneinfo = importlib.import_module("zoneinfo")  # only for people with quiet hours
    try:
        zone: tzinfo = zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise Invalid(t("reach.error.time_zone", zone=name[:100])) from error
    return zone


def is_used(channel: str, chains: Collection[Chain]) -> bool:
    """Whether a chain names this channel."""
    targets = [target for chain in chains for step in chain.steps for target in step.targets]
    return any(isinstance(each, ToChannel) and each.channel == channel for each in targets)


def _time(text: str) -> time:
    hours, _, minutes = text.partition(":")
    if not (len(text) == 5 and hours.isascii() and hours.isdigit() and minutes.isascii() and minutes.isdigit()):
        raise Invalid(t("reach.error.time", time=text[:20]))
    try:
        return time(int(hours), int(minutes))
    except ValueError as error:
        raise Invalid(t("reach.error.time", time=text[:20])) from error
