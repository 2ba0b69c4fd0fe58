"""Trust in a directory on a phone: it can be refused at a glance, and never granted."""

from handraise.model.trust import Brought, Trust
from handraise.surfaces.push import notices
from handraise.surfaces.push.notices import NoticeContext
from surfaces.push.asked import ask_of

BODY = Trust("/work/app", (Brought("hook", "Stop", "x", ".claude/settings.json"),), {})


def test_only_running_without_them_is_offered() -> None:
    notice = notices.of_ask(ask_of(BODY), NoticeContext("Fix it", "/work/app"), "d_1", 1, may_answer=True)

    assert (notice.title, notice.body) == (
        "Trust the Claude Code settings in /work/app?",
        "Trust the Claude Code settings in /work/app?\n1 hook\nOpen it to see everything.\nFix it",
    )
    assert [(each.title, each.answer) for each in notice.answers] == [("Run without them", {"trust": "without"})]
