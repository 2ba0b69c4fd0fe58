"""The person's own editor, on a text in a private file that is gone afterwards."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path


def edit(text: str, suffix: str) -> str | None:
    """What `$VISUAL` or `$EDITOR` makes of the text; None if it failed. Blocks until it is closed."""
    editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="handraise-") as folder:
        file = Path(folder) / f"edit{suffix}"
        file.write_text(text, encoding="utf-8", errors="surrogatepass")
        try:
            ended = subprocess.run([*editor, str(file)], check=False)
        except OSError:
            return None
        return file.read_text(encoding="utf-8", errors="replace") if ended.returncode == 0 else None
