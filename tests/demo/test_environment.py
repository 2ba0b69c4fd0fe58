from handraise.demo import environment


def test_claude_sees_the_model_its_home_and_nothing_of_ours() -> None:
    given = environment("http://127.0.0.1:1/play/x/1", "/home/demo")

    assert given["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:1/play/x/1"
    assert given["HOME"] == "/home/demo"
    assert given["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] == "1"
    assert "PYTHONPATH" not in given
