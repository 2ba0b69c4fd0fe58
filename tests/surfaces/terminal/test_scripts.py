"""Persian, Indic scripts and joined emoji in a terminal: as they are in words, marked in commands and paths."""

from pathlib import Path

from handraise.model.asks import Option, Permission, Prompt, Question
from handraise.present.evidence import hides
from surfaces.terminal.table import table

PERSIAN = "می\u200cخواهید کتاب\u200cها را ببینید؟"
SINHALA = "ශ්\u200dරී ලංකා"
FAMILY = "👨\u200d👩\u200d👧"
ASKED = Question((Prompt(PERSIAN, "", (Option(SINHALA, FAMILY), Option("pass\u200cword"))),))
READY = "Esc to postpone"


async def test_words_are_shown_in_their_script_and_commands_are_marked(tmp_path: Path) -> None:
    async with table(tmp_path) as laid:
        await laid.session(title=f"{FAMILY} {PERSIAN}")
        async with laid.terminal("attach", "s_1") as terminal:
            await laid.publish(f"{PERSIAN}\n\n{SINHALA} {FAMILY} r\u200dm")
            ask = await laid.ask(ASKED, session="s_1")
            await terminal.until("1 ", "pass⟨U+200C⟩word", READY, "r⟨U+200D⟩m")
            shown = terminal.raw.decode()
            for text in (PERSIAN, SINHALA, FAMILY):
                assert text in shown
            await laid.hub.inbox.withdraw(ask.id, "seen")
            await laid.ask(Permission("Bash", {"command": f"cat {PERSIAN}"}), session="s_1")
            await terminal.until("cat می⟨U+200C⟩خواهید", READY)


def test_a_text_in_its_script_hides_nothing_and_a_path_does() -> None:
    assert not hides(Question((Prompt(PERSIAN, "", (Option(SINHALA, FAMILY),)),)))
    assert hides(ASKED)
    diff = f"@@ -0,0 +1 @@\n+{PERSIAN}\n"
    assert not hides(Permission("Write", {"file_path": "/a", "content": PERSIAN}, diff=diff))
    assert hides(Permission("Write", {"file_path": f"/{PERSIAN}", "content": ""}, diff=diff))
    assert hides(Permission("Bash", {"command": f"cat {PERSIAN}"}))
    assert not hides(Permission("Bash", {"command": "ls", "description": PERSIAN}))
