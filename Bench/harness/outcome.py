"""The outcome of a row."""

from dataclasses import dataclass, field as attribute


@dataclass
class Gate:
    """A requirement: the measured value must be at most the bar, and should be at most the aim."""

    label: str
    measured: float
    bar: float
    aim: float = None
    unit: str = "×"


@dataclass
class Outcome:
    results: list
    gates: list
    remark: str = ""  # Remarks about the contenders for the reader.
    # Rows without peers have their own table (its first row is the head) and commands instead of results.
    figures: list = attribute(default_factory=list)
    commands: list = attribute(default_factory=list)
