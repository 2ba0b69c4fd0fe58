"""The notebook: finds the cell that an edit names. Never changes one."""

import json


class NotANotebook(Exception):
    """The cell cannot be shown; the text says why."""


def read_cell(text: str | None, cell_id: object, number: object) -> str:
    """The source of the cell with this id, or of the cell at this place; raises NotANotebook."""
    if text is None:
        raise NotANotebook("The notebook does not exist.")
    try:
        cells = json.loads(text)["cells"]
        place = _place(cells, cell_id, number)
        source = cells[place]["source"] if place is not None else ""
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        raise NotANotebook("The cell is not in the notebook as it is now.") from None
    return "".join(source) if isinstance(source, list) else str(source)


def _place(cells: list[dict[str, object]], cell_id: object, number: object) -> int | None:
    if cell_id is None and number is None:
        return None
    if isinstance(number, int):
        return number
    for place, cell in enumerate(cells):
        if cell.get("id") == cell_id or cell_id == f"cell-{place}":
            return place
    raise KeyError(cell_id)
