"""The page docs/benchmarks.md: sections between markers, so that the notes and the sections that are not measured stay."""

import json
import re

NOTES_BEGIN, NOTES_END = "<!-- notes: begin -->", "<!-- notes: end -->"

INTRODUCTION = """\
# Benchmarks

`make bench` writes this page; `make bench ARGS='--rows plain,tls --runs 3'` measures some rows and keeps the others. A private
nginx serves on loopback, and the files are written to a real disk. The contenders of a row take turns, each in a fresh directory
after a `sync`. The first round is not counted; its downloads are compared byte by byte with the source, those of later rounds by
size. Times are medians of the whole process, CPU is user and system time, memory is the highest peak of all runs. A ratio is
Ferry's time divided by the other's: less is better. *Peers* are all contenders except Ferry and dd. The scale rows
(`--rows scale`) measure the library alone, with `ferry-scale` against `ferry-origin`. The long rows (`--rows long`, as root)
download over emulated links: two network namespaces with `Bench/harness/link.c` between them. The row `limits` (as root) makes
causes of slow downloads on purpose, and shows which of them Ferry names. The rows of the interfaces (`--rows faces`,
`slow-page` as root) drive `ferry watch` on a terminal, and the page in Chromium.
"""

NOTES = "Nothing noted yet."


def seconds(value):
    if value is None:
        return "–"
    return f"{value * 1000:.1f} ms" if value < 0.1 else f"{value:.2f} s"


def megabytes(value):
    return "–" if value is None else f"{value / 1e6:.0f} MB"


def table(rows):
    """A Markdown table with aligned columns; the first row is the head, and the first column is text."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for number, row in enumerate(rows):
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("| " + " | ".join(cells) + " |")
        if number == 0:
            rule = ["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]
            lines.append("| " + " | ".join(rule) + " |")
    return "\n".join(lines)


def value(number, unit):
    if number is None:
        return "–"
    if unit in ("×", "s", "%"):
        return f"{number:.2f} {unit}" if unit != "%" or abs(number) < 10 else f"{number:.0f} %"
    return f"{number:.0f} {unit}".rstrip()


def verdict(gate):
    """The verdict on a gate, from the exact figures, not the rounded ones."""
    if gate["measured"] is None:
        return "not measured"
    if gate["aim"] is not None and gate["measured"] <= gate["aim"]:
        return "aim"
    if gate["bar"] is None:
        return "not the aim"
    return "bar" if gate["measured"] <= gate["bar"] else "**missed**"


class Section:
    """One row of the benchmarks as text."""

    def __init__(self, name, title, outcome):
        self.name, self.title, self.outcome = name, title, outcome
        self.gates = [vars(gate) for gate in outcome.gates]

    def text(self):
        parts = (self.figures(), self.outcome.remark, self.gate_table(), self.commands())
        return "\n\n".join(part for part in parts if part)

    def figures(self):
        if self.outcome.figures:
            return table(self.outcome.figures)
        results = self.outcome.results
        peers = [result.wall() for result in results if result.contender.is_peer and result.costs]
        best = min(peers, default=None)
        connections = any(result.connections for result in results)
        served = any(result.served for result in results)
        head = ["", "runs", "wall", "min – max", "CPU", "memory"]
        head += ["/ best peer"] * bool(best) + ["connections"] * connections + ["served"] * served
        rows = [head]
        for result in results:
            name = result.contender.name
            if result.failure is not None:
                rows.append([f"{name}: {result.failure[:60]}".replace("|", "/")] + ["–"] * (len(head) - 1))
                continue
            if not result.costs:
                continue
            walls = [cost.wall for cost in result.costs]
            row = [
                name, str(len(walls)), seconds(result.wall()), f"{seconds(min(walls))} – {seconds(max(walls))}",
                seconds(result.cpu()), megabytes(result.memory()),
            ]
            if best:
                row.append(f"{result.wall() / best:.2f} ×")
            if connections:
                row.append(str(result.connections or "–"))
            if served:
                row.append(f"{max(result.served):,} B" if result.served else "–")
            rows.append(row)
        return table(rows)

    def gate_table(self):
        rows = [["", "measured", "bar", "aim", "reached"]]
        for gate in self.gates:
            unit = gate["unit"]
            rows.append(
                [gate["label"], value(gate["measured"], unit), value(gate["bar"], unit), value(gate["aim"], unit),
                 verdict(gate)])
        return table(rows)

    def commands(self):
        lines = self.outcome.commands or sorted({result.contender.shown() for result in self.outcome.results})
        return "```\n" + "\n".join(lines) + "\n```"

    def marked(self):
        data = json.dumps({"title": self.title, "gates": self.gates}, ensure_ascii=False)
        return f"<!-- row {self.name}: {data} -->\n## {self.title}\n\n{self.text()}\n<!-- row {self.name}: end -->"


class Page:
    def __init__(self, path):
        from harness.rows import ROWS
        self.path = path
        self._order = list(ROWS)
        self._sections = {}
        self._notes = NOTES
        if path.exists():
            text = path.read_text(encoding="utf-8")
            for match in re.finditer(r"<!-- row ([\w-]+): \{.*\} -->\n.*?<!-- row \1: end -->", text, re.DOTALL):
                self._sections[match[1]] = match[0]
            notes = re.search(re.escape(NOTES_BEGIN) + r"\n(.*?)\n?" + re.escape(NOTES_END), text, re.DOTALL)
            if notes:
                self._notes = notes[1].strip("\n")

    def replace(self, section):
        self._sections[section.name] = section.marked()

    def summary(self):
        rows = [["", "measured", "bar", "aim", "reached"]]
        for name in self._order:
            if name not in self._sections:
                continue
            data = json.loads(re.match(r"<!-- row [\w-]+: (\{.*\}) -->", self._sections[name])[1])
            for gate in data["gates"]:
                unit = gate["unit"]
                rows.append(
                    [f"{data['title']}: {gate['label']}", value(gate["measured"], unit), value(gate["bar"], unit),
                     value(gate["aim"], unit), verdict(gate)])
        return table(rows)

    def write(self, facts):
        parts = [
            INTRODUCTION,
            f"Last run on {facts['date']}.\n\n- Machine: {facts['machine']}\n- System: {facts['system']}\n"
            f"- Programs: {facts['programs']}\n",
            f"## Summary\n\n{self.summary()}\n",
            f"## Notes\n\n{NOTES_BEGIN}\n{self._notes}\n{NOTES_END}\n",
            *(self._sections[name] + "\n" for name in self._order if name in self._sections),
        ]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".new")
        unfinished.write_text("\n".join(parts), encoding="utf-8")
        unfinished.replace(self.path)
