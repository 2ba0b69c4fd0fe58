"""The demo: a real hub and the real CLI, with a scripted model instead of an account. Leaves nothing behind."""

from collections.abc import Callable
from pathlib import Path

from handraise.claude.locate import locate
from handraise.demo.environment import environment
from handraise.demo.model import ScriptedModel
from handraise.demo.scenarios import SCENARIOS
from handraise.demo.toy import FILES
from handraise.serving import Service, Serving, serving, until_told

FIRST = "Add a health endpoint to this service, with a test."


async def demonstrate(folder: Path, port: int, tell: Callable[[str], object], up: Callable[[Serving], object]) -> None:
    """Serves until told to stop; then ends the sessions too, since their model goes."""
    project = folder / "toy-service"
    for name, text in FILES.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    home = folder / "home"
    home.mkdir()
    async with ScriptedModel(SCENARIOS) as model:
        url = model.url("health_endpoint")
        service = Service(folder / "state", locate(), environment(url, str(home)), port=port)
        async with serving(service) as served:
            await served.hub.desk.start(FIRST, str(project), title="Add a health endpoint")
            tell(f"Handraise is up at {served.base}, with a session that will raise its hand.")
            tell(f"Open this link to answer it:\n  {served.link}")
            up(served)
            await until_told()
            tell("Stopping.")
            await served.hub.crew.stop_all()
