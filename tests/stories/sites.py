"""Machines that share a database: each with a hub in its own process, and a way to the database that can break."""

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import msgspec

from handraise.client.connection import HttpClient, RequestFailed
from handraise.desk.interface import DeskError, Unreached
from handraise.desk.remote import RemoteDesk
from postgres.proxy import Proxy
from stories.serving_house import settle_in, surroundings

DEADLINE = 120.0
AGAIN = 0.05
ITS_OWN = {"sessions", "locks"}
"""What a copied state folder shares with the first: the journals and FIFOs of living Claudes can't be copied."""
LEFT_OUT = {*ITS_OWN, "hub.sock", "hub.lock"}


async def until(holds: Callable[[], bool]) -> None:
    """Waits for something that no feed tells of."""
    async with asyncio.timeout(DEADLINE):
        while not holds():
            await asyncio.sleep(AGAIN)


class ServedSite:
    """One machine. Its hub is started again whenever it has ended, as a service manager does."""

    def __init__(self, name: str, folder: Path, proxy: Proxy, url: str, model: str, *, state: str = "state") -> None:
        self.name = name
        self.folder = folder
        self.work = folder / "work"
        self.proxy = proxy
        self.state = folder / state
        self.log = folder / f"hub-of-{state}.log"
        self.code: Path | None = None
        """Where another version of Handraise is, for its next hub."""
        self._url = url
        self._model = model
        self._process: asyncio.subprocess.Process | None = None
        self._wanted = asyncio.Event()
        self._wanted.set()

    @property
    def machine(self) -> str:
        """Its id."""
        identity: str = json.loads((self.state / "machine.json").read_bytes())["id"]
        return identity

    @asynccontextmanager
    async def kept(self) -> AsyncIterator[None]:
        """Up while this is entered, but for a moment after each kill; killed when it is left."""
        self.folder.mkdir(exist_ok=True)
        self.work.mkdir(exist_ok=True)
        settle_in(self.folder, f'[machine]\nname = "{self.name}"\n')
        keeping = asyncio.create_task(self._keep())
        try:
            yield
        finally:
            keeping.cancel()
            with suppress(asyncio.CancelledError):
                await keeping

    async def _keep(self) -> None:
        environ = {**surroundings(self.folder, self._model), "HANDRAISE_STATE": str(self.state)}
        path = environ["PYTHONPATH"]
        while True:
            await self._wanted.wait()
            environ["PYTHONPATH"] = f"{self.code}{os.pathsep}{path}" if self.code else path
            with self.log.open("ab") as log:
                process = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", "handraise", "serve", "--port", "0", "--database", self._url,
                    env=environ, stdout=log, stderr=log,
                )  # fmt: skip
            self._process = process
            try:
                await process.wait()
            finally:
                self.kill()
                await process.wait()
            await asyncio.sleep(AGAIN)

    def signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)

    def leave(self) -> None:
        """Killed, and not started again before it returns."""
        self._wanted.clear()
        self.kill()

    async def stop(self) -> None:
        """As a service manager stops it, and not started again before it returns."""
        self._wanted.clear()
        self.signal(signal.SIGTERM)
        if self._process is not None:
            async with asyncio.timeout(DEADLINE):
                await self._process.wait()

    def come_back(self) -> None:
        self._wanted.set()

    def desk(self) -> RemoteDesk:
        return RemoteDesk(self.state / "hub.sock")

    async def up(self) -> None:
        """Waits until its hub answers."""
        async with asyncio.timeout(DEADLINE):
            while True:
                try:
                    async with self.desk() as desk:
                        await desk.newest()
                        return
                except (DeskError, OSError):
                    await asyncio.sleep(AGAIN)

    def has_logged(self, words: str) -> bool:
        return self.log.exists() and words in self.log.read_text()

    async def trouble(self) -> str:
        """What its hub says is wrong."""
        try:
            async with HttpClient(self.state / "hub.sock", {}) as http:
                response = await http.request("GET", "/api/me")
        except RequestFailed as error:
            raise Unreached from error
        return str(msgspec.json.decode(response.body).get("hub_trouble", ""))

    def copied(self) -> "ServedSite":
        """Somebody copied the state folder: a second hub with the same identity, on the same Claudes."""
        number = sum(each.name.startswith("state") for each in self.folder.iterdir()) + 1
        twin = ServedSite(self.name, self.folder, self.proxy, self._url, self._model, state=f"state-{number}")
        twin.state.mkdir(mode=0o700)
        for each in self.state.iterdir():
            if each.name in ITS_OWN:
                os.symlink(each.resolve(), twin.state / each.name)
            elif each.name not in LEFT_OUT:
                (shutil.copytree if each.is_dir() else shutil.copy2)(each, twin.state / each.name)
        return twin
