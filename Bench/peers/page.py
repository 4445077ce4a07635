"""The generated parts of docs/reliability.md, between markers; what is around them is written by hand."""

import json
import re

WORDS = {
    "right": "right",
    "error": "refused",  # Only where refusing is what must be done.
    "error, right": "error, right",
    "error, error": "error, stuck",
    "error, hang": "error, hang",
    "error, wrong": "**error, wrong**",
    "error, unsafe": "**error, unsafe**",
    "error, crash": "**error, crash**",
    "error, nothing": "error, no file",
    "wrong": "**wrong**",
    "nothing": "**no file**",
    "unsafe": "**unsafe**",
    "hang": "hang",
    "crash": "**crash**",
    "absent": "–",
}
# What is counted in the summary, and which words count there.
SUMMARY = [
    ("right file, or refused where that is right", ("right", "refused")),
    ("error, and the next run gives the right file", ("error, right",)),
    ("error, and the next run gives one too, or no file", ("error, stuck", "error, no file")),
    ("hang", ("hang", "error, hang")),
    ("error, and the next run calls a wrong file right", ("**error, wrong**", "**error, unsafe**")),
    ("wrong file, called right", ("**wrong**",)),
    ("no file, called right", ("**no file**",)),
    ("unsafe", ("**unsafe**",)),
    ("crash", ("**crash**", "**error, crash**")),
    ("not applicable (no such option)", ("–",)),
]


def table(rows, left=1):
    """A Markdown table whose columns are aligned; the first row is the head, the first columns are text."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for number, row in enumerate(rows):
        lines.append("| " + " | ".join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths))) + " |")
        if number == 0:
            lines.append("| " + " | ".join(
                "-" * width if i < left else "-" * (width - 1) + ":" for i, width in enumerate(widths)) + " |")
    return "\n".join(lines)


def key(name):
    """A2 before A11, A11a before A11b."""
    section, number, letter = re.fullmatch(r"([A-Z])(\d+)([a-z]?)", name).groups()
    return section, int(number), letter


def megabytes(count):
    if count < 1000:
        return f"{count} B"
    return f"{count / 1000:.0f} KB" if count < 1e6 else f"{count / 1e6:.1f} MB"


class Page:
    """Takes results by row; rows that did not run keep what the page says of them."""

    def __init__(self, path, tools, rows):
        self.path, self.tools = path, tools
        self._titles = {row.name: row.title for row in rows}
        self._text = path.read_text(encoding="utf-8")
        self._matrix = self._kept("matrix")
        self._bytes = self._kept("bytes")
        self._faults = self._kept_faults()

    # ---- what the page says already

    def _part(self, name):
        found = re.search(rf"<!-- {name}: begin -->\n(.*?)<!-- {name}: end -->", self._text, re.DOTALL)
        if not found:
            raise SystemExit(f"compare-peers: {self.path} has no part '{name}'")
        return found[1]

    def _kept(self, name):
        rows = {}
        for line in self._part(name).splitlines():
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            if len(cells) == 2 + len(self.tools) and cells[0] in self._titles:
                rows[cells[0]] = cells[2:]
        return rows

    def _kept_faults(self):
        faults = {}
        for line in self._part("faults").splitlines():
            found = re.match(r"- (\w+), ([^:]+): ", line)
            if found and found[1] in self._titles:
                faults[found[1], found[2]] = line
        return faults

    # ---- results

    def add(self, row, results):
        """`results`: by the tool's name."""
        self._matrix[row.name] = [WORDS[results[tool.name].verdict] for tool in self.tools]
        if row.counts_bytes:
            size = row.right[0].size
            self._bytes[row.name] = [self._twice(results[tool.name], size) for tool in self.tools]
        for tool in self.tools:
            result = results[tool.name]
            self._faults.pop((row.name, tool.name), None)
            if "right" not in result.verdict and result.verdict != "error":
                detail = result.detail.replace("|", "/")
                self._faults[row.name, tool.name] = f"- {row.name}, {tool.name}: {detail}."

    @staticmethod
    def _twice(result, size):
        return megabytes(max(0, result.fetched - size)) if "right" in result.verdict else "–"

    def matrix(self):
        head = ["", "the server, or this machine"]
        head += [" ".join([tool.name, *([f"`{tool.option}`"] if tool.option else [])]) for tool in self.tools]
        names = sorted(self._matrix, key=key)
        return table([head, *([name, self._titles[name], *self._matrix[name]] for name in names)], left=7)

    def summary(self):
        head = ["of " + str(len(self._matrix)) + " scenarios", *(tool.name for tool in self.tools)]
        columns = list(zip(*self._matrix.values())) or [()] * len(self.tools)
        rows = [[title, *(str(sum(column.count(word) for word in words)) for column in columns)] for title, words in SUMMARY]
        return table([head, *(row for row in rows if any(cell != "0" for cell in row[1:]))])

    def bytes(self):
        head = ["", "", *(tool.name for tool in self.tools)]
        names = sorted(self._bytes, key=key)
        return table([head, *([name, self._titles[name], *self._bytes[name]] for name in names)], left=2)

    def faults(self):
        order = [tool.name for tool in self.tools]
        pairs = sorted(self._faults, key=lambda pair: (key(pair[0]), order.index(pair[1])))
        return "\n".join(self._faults[pair] for pair in pairs) or "Nothing."

    # ---- writing

    def replace(self, name, text):
        self._part(name)
        before, rest = self._text.split(f"<!-- {name}: begin -->\n", 1)
        after = rest.split(f"<!-- {name}: end -->", 1)[1]
        self._text = f"{before}<!-- {name}: begin -->\n{text}\n<!-- {name}: end -->{after}"

    def write(self, facts=None):
        if facts is not None:
            self.replace("facts", facts)
            for name in ("summary", "matrix", "bytes", "faults"):
                self.replace(name, getattr(self, name)())
        unfinished = self.path.with_suffix(".new")
        unfinished.write_text(self._text, encoding="utf-8")
        unfinished.replace(self.path)


def kill_figures(path):
    """The table of a report of `make test-crash`: the whole, then each variant that has figures."""
    report = json.loads(path.read_text(encoding="utf-8"))

    def line(name, kills, costs):
        # A kill that comes while the file changes costs what the change costs, and is not counted among these.
        return [name, str(kills), str(costs["kills"]), megabytes(costs["meanBytes"]), megabytes(costs["maxBytes"])]

    head = ["", "kills", "with the same file after", "fetched again, mean per kill", "fetched again, most"]
    variants = report["variants"]
    rows = [line(name, variants[name]["kills"], variants[name]["fetchedTwice"]) for name in sorted(variants)]
    return table([head, line("all", report["kills"], report["fetchedTwicePerKill"]), *rows]) + (
        f"\n\nSeeds {report['firstSeed']} to {report['lastSeed']}, {report['downloads']} downloads, "
        f"{report['seconds']:.0f} s.")
