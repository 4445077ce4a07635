"""What a row found out."""

from dataclasses import dataclass, field as attribute


@dataclass
class Gate:
    """One thing that must hold: what was measured is at most the bar, and better at most the aim."""

    label: str
    measured: float
    bar: float
    aim: float = None
    unit: str = "×"


@dataclass
class Outcome:
    results: list
    gates: list
    remark: str = ""  # What the reader has to know of who takes part.
    # Rows that compare nobody give their own table (its first row is the head) and commands instead of results.
    figures: list = attribute(default_factory=list)
    commands: list = attribute(default_factory=list)
