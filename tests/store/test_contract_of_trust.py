"""What every store must do with trust in directories: stored with the answer, once."""

from handraise.model.actors import ByRule, TheHub
from handraise.model.trust import Brought, DirectoryTrust, Trust
from handraise.store.changes import OpenAsk, RecordLate, RevokeTrust, SettleAsk
from handraise.store.interface import Store
from store.examples import an_ask, answered, expired, later, trusted, withdrawn

BODY = Trust("/work/app", (Brought("hook", "Stop", "make lint", ".claude/settings.json"),), {"a": "b"})
ASK = an_ask(body=BODY)


def decision(level: str) -> dict[str, object]:
    return {"directory": "/work/app", "level": level, "digest": ASK.digest, "made_by": "ana", "source": "web"}


def fields_of(trust: DirectoryTrust | None) -> dict[str, object]:
    assert trust is not None
    return {key: getattr(trust, key) for key in ("directory", "level", "digest", "made_by", "source")}


async def test_an_answer_is_kept_for_its_directory_until_it_is_revoked(store: Store) -> None:
    await store.apply([OpenAsk(ASK), SettleAsk(ASK.id, trusted("exactly"))])

    assert fields_of(await store.trust("/work/app")) == decision("exactly")
    assert [fields_of(each) for each in await store.trusts()] == [decision("exactly")]
    assert await store.trust("/work") is None
    revoked = await store.apply([RevokeTrust("/work/app"), RevokeTrust("/work/app")])
    assert revoked.took == (True, False)
    assert await store.trusts() == []


async def test_who_comes_second_decides_nothing(store: Store) -> None:
    await store.apply([OpenAsk(ASK), SettleAsk(ASK.id, trusted("never"))])

    await store.apply([SettleAsk(ASK.id, trusted("exactly")), RecordLate(ASK.id, trusted("exactly"))])

    assert fields_of(await store.trust("/work/app")) == decision("never")


async def test_a_late_answer_is_kept_for_the_next_start(store: Store) -> None:
    await store.apply([OpenAsk(ASK), SettleAsk(ASK.id, expired())])
    assert await store.trusts() == []

    await store.apply([RecordLate(ASK.id, trusted("exactly"))])

    assert fields_of(await store.trust("/work/app")) == decision("exactly")


async def test_only_a_person_s_answer_to_such_an_ask_is_kept(store: Store) -> None:
    await store.apply([OpenAsk(ASK), SettleAsk(ASK.id, trusted("exactly", ByRule("r_1", "a rule")))])
    await store.apply([OpenAsk(an_ask("a_2", body=BODY)), SettleAsk("a_2", trusted("exactly", TheHub()))])
    await store.apply([OpenAsk(an_ask("a_3", body=BODY)), SettleAsk("a_3", withdrawn())])
    await store.apply([OpenAsk(an_ask("a_4")), SettleAsk("a_4", answered())])

    assert await store.trusts() == []


async def test_the_newest_decision_about_a_directory_counts(store: Store) -> None:
    await store.apply([OpenAsk(ASK), SettleAsk(ASK.id, trusted("exactly"))])
    other = an_ask("a_2", body=Trust("/work/app", (), {"a": "c"}))

    await store.apply([OpenAsk(other), SettleAsk("a_2", trusted("without"))])

    (found,) = await store.trusts()
    assert (found.level, found.digest, found.made_at, found.ask) == ("without", other.digest, later(3), "a_2")
