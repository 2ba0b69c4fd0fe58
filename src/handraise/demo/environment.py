"""The environment in which Claude meets the scripted model and nothing else. Never reads our own environment."""

PATH = "/usr/local/bin:/usr/bin:/bin"


def environment(model_url: str, home: str) -> dict[str, str]:
    """The whole environment of a Claude that talks to `model_url` and keeps its files under `home`."""
    return {
        "PATH": PATH,
        "HOME": home,
        "LANG": "C.UTF-8",
        "ANTHROPIC_BASE_URL": model_url,
        "ANTHROPIC_API_KEY": "scripted",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "FORCE_COLOR": "0",
        "NO_PROXY": "127.0.0.1",
        # Root may use `bypassPermissions` only inside what calls itself a sandbox.
        "IS_SANDBOX": "1",
    }
