"""The picture of a chain: what would happen to an ask that is raised now."""

from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from handraise.reach.decision import ChannelFacts, ReachWorld
from handraise.reach.model import ALL, Chain, ChainStep, ToChannel, ToPerson, ToScreens
from handraise.reach.picture import picture_of
from handraise.reach.quiet import QuietWindow
from handraise.reach.urgency import AskFacts

EVENING = datetime(2030, 1, 2, 21, 50, tzinfo=UTC)


def test_time_goes_on_from_step_to_step() -> None:
    """At once, Ana is awake. An hour later, the same phone would wake her: it becomes urgent then, and does."""
    steps = (
        ChainStep(0, (ToScreens(), ToChannel("c_1"))),
        ChainStep(900, (ToChannel("c_1"),)),
        ChainStep(3600, (ToChannel("c_1"),)),
        ChainStep(7200, (ToPerson("ben"),)),
    )
    world = ReachWorld(
        roles={"ana": "admin"},
        quiet={"ana": QuietWindow(time(22), time(7), ZoneInfo("UTC"))},
        channels=(ChannelFacts("c_1", "ana", "Phone"),),
        chains={ALL: Chain(ALL, steps)},
    )
    shown = picture_of(AskFacts("a_", "permission", EVENING), world)
    assert [step.urgency for step in shown] == ["normal", "normal", "high", "high"]
    rows = [[(row.label, row.effect, row.reason) for row in step.rows] for step in shown]
    assert rows == [
        [("screens", "shown", None), ("Phone", "sent", None)],
        [("Phone", "later", "quiet")],
        [("Phone", "sent", None)],
        [("", "not_sent", "no_receiver")],
    ]
    assert shown[1].rows[0].at == EVENING + timedelta(hours=1), "when it becomes urgent"
