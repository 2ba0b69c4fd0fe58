"""Pages that look like Telegram's."""

import pytest

from surfaces.telegram.bare_client import BareClient
from surfaces.telegram.people import Someone
from surfaces.telegram.picture import as_html, as_page

pytestmark = pytest.mark.anyio


def test_entities_become_nested_tags() -> None:
    entities = [
        {"type": "blockquote", "offset": 0, "length": 9},
        {"type": "bold", "offset": 0, "length": 4},
        {"type": "italic", "offset": 2, "length": 2},
        {"type": "text_link", "offset": 5, "length": 4, "url": "https://a.example/?b&c"},
        {"type": "pre", "offset": 10, "length": 2, "language": "sh"},
    ]
    assert as_html("😀ab <cd>\nls", entities) == (
        "<blockquote><b>😀<i>ab</i></b> "
        '<a href="https://a.example/?b&amp;c">&lt;cd&gt;</a></blockquote><pre data-language="sh">ls</pre>'
    )


async def test_a_page_shows_bubbles_buttons_and_files(bot: BareClient, ana: Someone) -> None:
    markup = {
        "inline_keyboard": [[{"text": "Yes", "callback_data": "a"}, {"text": "Open", "url": "https://a.example"}]]
    }
    await bot.call("sendMessage", chat_id=ana.number, text="Run <it>?", reply_markup=markup)
    await bot.upload("sendDocument", "document", "change.diff", b"+" * 2048, chat_id=str(ana.number))
    page = as_page(ana.private, ana, "dark")

    assert "data-theme=dark" in page
    assert "<article class=own>" in page
    assert "Run &lt;it&gt;?" in page
    assert "<div><span>Yes</span><span class=link>Open</span></div>" in page
    assert "<b>change.diff</b><small>2.0 KB</small>" in page
