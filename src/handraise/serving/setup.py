"""Checks for the page's first steps, with the very program that the hub runs."""

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from handraise.api.setup import SetupCheck, SetupSchema
from handraise.claude.locate import INSTALL, ClaudeMissing, version
from handraise.claude.sign_in import sign_in
from handraise.claude.versions import SAFE_SINCE, is_unsafe
from handraise.texts import t

_DEADLINE = 10.0


async def look(program: Path, environment: Mapping[str, str], limit: int) -> SetupSchema:
    """Takes seconds at most. A gateway runs no sessions, and needs no Claude Code."""
    checks = (await _checks(program, environment)) if limit else ()
    return SetupSchema(all(each.ok for each in checks), checks, own_directory(environment), _home(environment))


async def _checks(program: Path, environment: Mapping[str, str]) -> tuple[SetupCheck, ...]:
    try:
        found = await version(program, deadline=_DEADLINE)
    except ClaudeMissing as error:
        return (
            SetupCheck("claude", ok=False, sentence=error.problem, advice=t("doctor.setup.install"), command=INSTALL),
        )
    named = shlex.quote(str(program))
    if is_unsafe(found):
        sentence = t("doctor.setup.unsafe", version=found, safe=SAFE_SINCE)
        claude = SetupCheck(
            "claude", ok=False, sentence=sentence, advice=t("doctor.setup.run"), command=f"{named} update"
        )
    else:
        claude = SetupCheck("claude", ok=True, sentence=t("doctor.setup.found", version=found))
    match await sign_in(program, environment, deadline=_DEADLINE):
        case "in":
            return claude, SetupCheck("login", ok=True, sentence=t("doctor.setup.signed_in"))
        case "out":
            sentence, advice, command = t("doctor.setup.signed_out"), t("doctor.setup.run"), f"{named} auth login"
            return claude, SetupCheck("login", ok=False, sentence=sentence, advice=advice, command=command)
        case _:
            # An older version doesn't say: a session will.
            return claude, SetupCheck("login", ok=True, sentence=t("doctor.setup.unknown"))


def own_directory(environment: Mapping[str, str]) -> str:
    """Where the hub was started. As a service that is `/`, which is nobody's project: then the home directory."""
    try:
        here = os.getcwd()
    except OSError:
        here = os.sep
    return here if here != os.sep else _home(environment)


def _home(environment: Mapping[str, str]) -> str:
    return environment.get("HOME") or str(Path.home())
