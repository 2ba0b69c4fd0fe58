"""The check of a channel, with its server on loopback."""

import pytest

from channels.counterparts import SECRET, checked, closed_port, counterpart
from handraise.channels.model import ChannelKind
from handraise.doctor.channels import check_channel


@pytest.mark.parametrize(
    ("kind", "words"),
    [("ntfy", "accepts the sign-in"), ("email", "accepts the sign-in"), ("apprise", "can be read")],
)
async def test_a_channel_that_works_is_named_and_gets_no_message(kind: ChannelKind, words: str) -> None:
    async with counterpart(kind) as other:
        made = checked(kind, other.typed())
        found = await check_channel(made.config, made.secrets, private=True)
        assert kind == "apprise" or other.arrived() == []
    assert found.verdict == "ok"
    assert found.sentence.startswith("Somewhere: ")
    assert words in found.sentence


@pytest.mark.parametrize("kind", ["ntfy", "email"])
async def test_a_wrong_sign_in_fails_with_the_next_step(kind: ChannelKind) -> None:
    async with counterpart(kind) as other:
        other.fail("unauthorized")
        made = checked(kind, other.typed())
        found = await check_channel(made.config, made.secrets, private=True)
    assert found.verdict == "fail"
    assert "refused the sign-in" in found.sentence
    assert "Check the" in found.sentence
    assert SECRET not in found.sentence


@pytest.mark.parametrize("kind", ["ntfy", "email"])
async def test_a_server_that_is_away_is_a_warning(kind: ChannelKind) -> None:
    async with counterpart(kind) as other:
        other.port = await closed_port()
        made = checked(kind, other.typed())
        found = await check_channel(made.config, made.secrets, private=True)
    assert found.verdict == "warn"
    assert "reached" in found.sentence
