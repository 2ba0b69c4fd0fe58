"""What people set about notifications on a busy day, and what was sent: for a hub that has a `Showroom`."""

from datetime import timedelta

from browser.showroom import ANN, OWNER
from browser.wares import NOW
from handraise.reach.model import (
    ALL,
    AskLog,
    ChainStep,
    NoticeEntry,
    QuietSettings,
    ToChannel,
    ToDevices,
    ToPerson,
    ToScreens,
)
from handraise.reach.notifications import Notifications
from handraise.reach.situation import ReachConfig
from handraise.serving.serve import RunningHub

CONFIG = ReachConfig(private_addresses=True)
"""For the hub: its channels are on loopback."""
HOSTILE = "<img src=x onerror=alert(1)> `code` AVeryLongNameWithoutAnySpace"
REFUSED = "The mail server 127.0.0.1 refused the sign-in. Check the user name and password."


async def set_notifications(up: RunningHub, port: int, other: str = HOSTILE) -> Notifications:
    """Channels of an ntfy server at this port of loopback, steps, quiet hours, mutes and a log.

    `other` is the name of someone else's channel.
    """
    all_of_it = up.notifications
    assert all_of_it is not None
    settings = all_of_it.settings
    # What is open already isn't sent to each channel that is added.
    await settings.set_chain(ALL, (ChainStep(0, (ToScreens(),)),))
    await up.auth.make(ANN.name, "approver", OWNER, "test")
    ntfy = {"server": f"http://127.0.0.1:{port}", "topic": "handraise-x7k2m9q4"}
    phone = await settings.add_channel(OWNER.name, OWNER.name, "My phone", "ntfy", ntfy, with_content=False)
    team = await settings.add_channel(ALL, OWNER.name, "Team chat", "ntfy", ntfy, with_content=True)
    mail = {"host": "127.0.0.1", "security": "none", "sender": "hub@example.com", "recipients": "owner@example.com"}
    letters = await settings.add_channel(OWNER.name, OWNER.name, "On-call e-mail", "email", mail, with_content=False)
    await settings.add_channel(ANN.name, ANN.name, other, "ntfy", ntfy, with_content=False)
    await all_of_it.health.note(phone.id, None, NOW)
    await all_of_it.health.note(letters.id, REFUSED, NOW)
    steps = (
        ChainStep(0, (ToScreens(), ToDevices())),
        ChainStep(120, (ToChannel(phone.id),)),
        ChainStep(900, (ToChannel(team.id), ToPerson(ANN.name))),
        ChainStep(4 * 3600, (ToChannel(letters.id),)),
    )
    await settings.set_chain(ALL, steps)
    await settings.set_chain("p_1", (ChainStep(0, (ToChannel(phone.id),)),))
    start, end = NOW - timedelta(hours=2), NOW + timedelta(hours=5)
    await settings.set_quiet(
        ANN.name, QuietSettings(f"{start:%H:%M}", f"{end:%H:%M}", "UTC", urgent_gets_through=False)
    )
    night = QuietSettings(f"{NOW + timedelta(hours=9):%H:%M}", f"{NOW + timedelta(hours=17):%H:%M}", "Europe/Berlin")
    await settings.set_quiet(OWNER.name, night)
    await settings.mute(OWNER.name, OWNER.name, session="s_idle", project=None, until=NOW + timedelta(days=400))
    await settings.mute(ALL, OWNER.name, session=None, project="p_2", until=None)
    await _add_log(all_of_it, phone.id, letters.id)
    return all_of_it


async def _add_log(all_of_it: Notifications, phone: str, letters: str) -> None:
    opened = NOW - timedelta(hours=1)
    step = opened + timedelta(minutes=2)
    entries = (
        NoticeEntry(0, "push", OWNER.name, "held", opened, "looking"),
        NoticeEntry(1, phone, OWNER.name, "sent", step, label="My phone"),
        NoticeEntry(1, phone, ANN.name, "held", step, "quiet", NOW + timedelta(hours=5), label="My phone"),
        NoticeEntry(2, letters, OWNER.name, "failed", NOW, detail=REFUSED, label="On-call e-mail"),
    )
    written = AskLog("a_2", opened, "s_limit", None, "permission", entries, step + timedelta(seconds=40), OWNER.name)
    await all_of_it.log.change({"a_2": (written, lambda _: written)})
