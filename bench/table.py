"""One measured figure, and the table of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One figure: what was measured, and what it is held to.

    `bar` is the most it may be, or the least with `least`; None where nothing is asked. `floor` is
    the same work in plain JavaScript, in the same unit.
    """

    what: str
    value: float
    unit: str
    bar: float | None = None
    least: bool = False
    floor: float | None = None
    note: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether the bar is met; None where there is none."""
        if self.bar is None:
            return None
        return self.value >= self.bar if self.least else self.value <= self.bar


HEAD = ("what", "measured", "bar", "", "floor (JavaScript)", "times the floor", "note")


def markdown(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table, in columns that line up."""
    cells = [HEAD, *map(_cells, rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEAD))]
    lines = [_line(row, widths) for row in cells]
    rule = _line(tuple("-" * width for width in widths), widths)
    return "\n".join([lines[0], rule, *lines[1:]])


def _cells(row: Row) -> tuple[str, ...]:
    bar = "" if row.bar is None else f"{'≥' if row.least else '≤'} {_figure(row.bar, row.unit)}"
    verdict = {None: "", True: "holds", False: "MISSED"}[row.holds]
    floor = "" if row.floor is None else _figure(row.floor, row.unit)
    ratio = f"{row.value / row.floor:.1f}" if row.floor else ""
    return (row.what, _figure(row.value, row.unit), bar, verdict, floor, ratio, row.note)


def _figure(value: float, unit: str) -> str:
    number = f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
    return f"{number} {unit}".strip()


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return f"| {' | '.join(padded)} |"
