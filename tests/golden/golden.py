"""Answers kept on file: tests compare what they see with it, byte for byte.

OPENPAI_GOLDEN=write writes the files anew; what changed is then read in the
diff before it is committed.
"""

import difflib
import json
import os
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent


class Golden:
    """One file of titled sections."""

    def __init__(self, name):
        self.path = HERE / name
        self.text = ""

    def add(self, title, text):
        self.text += f"=== {title}\n{text.rstrip()}\n\n"

    def check(self, test):
        """Fails where the file says something else."""
        if os.environ.get("OPENPAI_GOLDEN") == "write":
            self.path.parent.mkdir(exist_ok=True)
            self.path.write_text(self.text)
            return
        kept = self.path.read_text() if self.path.exists() else ""
        if kept == self.text:
            return
        diff = difflib.unified_diff(
            kept.splitlines(), self.text.splitlines(), str(self.path),
            "seen", n=6, lineterm="")
        test.fail("\n".join(list(diff)[:200]) + "\nIf each of these changes is "
                  "meant, run the test with OPENPAI_GOLDEN=write.")


# Numbers that no two runs share, by name.  A null stays one.
DRAWN = re.compile(
    r"(?i)(pid|.*ports?|.*(uptime|duration|elapsed|latency|time|waited|percent)|seq|lastEventId|"
    r"bytes|diskBytes|size|free_?bytes|total_?bytes|version)$")
# Memory, told as the difference from all of the machine's.
MEMORY = re.compile(r"(?i)(free|used|most|guaranteed)?_?memory(mb)?"
                    r"(_?(free|used|guaranteed))?$")
# What depends on who runs the test, and where.
OWN = re.compile(r"(limits|warning)$")
PORTS = re.compile(r"(?i)(container)?ports?$")
EPOCHS = [range(1_600_000_000 * unit, 2_600_000_000 * unit)
          for unit in (1, 1000, 1_000_000)]


class Fixed:
    """What differs from run to run and from machine to machine, replaced."""

    def __init__(self):
        self.words = []  # (pattern, what stands for it)
        self.memory = {}  # of the whole machine: number, what it is
        self.user = None

    def word(self, text, name):
        if text:
            self.words.append((re.compile(
                rf"(?<!\w){re.escape(text)}(?!\w)"), name))
            self.words.sort(key=lambda w: -len(w[0].pattern))

    def text(self, text):
        for pattern, name in self.words:
            text = pattern.sub(name, text)
        for pattern, name in PATTERNS:
            text = pattern.sub(name, text)
        return text

    def number(self, value, key):
        if any(int(value) in epoch for epoch in EPOCHS):
            return "TIME"
        if DRAWN.match(key):
            return "N" if value else value
        if MEMORY.match(key):
            for whole, name in self.memory.items():
                if value == whole // 2:
                    return name + "/2"
                if 0 <= whole - value < whole // 2:
                    left = whole - value
                    return name if left == 0 else f"{name}-{left}"
            if value % (100 << 20) and value > 1 << 20:  # what a task uses now
                return "N"
        return value

    def value(self, value, key=""):
        if OWN.match(key) and not isinstance(value, (dict, list)):
            return "OWN"
        if self.user is not None and isinstance(value, str):
            if value == self.user and key != "path":
                return "USER"
            value = value.replace(self.user + "~", "USER~")
        if isinstance(value, dict):
            if PORTS.match(key) and all(
                    re.fullmatch(r"\d+", str(port))
                    for port in value.values()):
                return {name: "PORT" for name in value}
            return {self.text(k): self.value(v, k)
                    for k, v in value.items()}
        if isinstance(value, list):
            return [self.value(item, key) for item in value]
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return self.number(value, key)
        return value

    def json(self, text):
        """An answer's text, with its fields in their order."""
        try:
            value = json.loads(text)
        except ValueError:
            return self.lines(text)
        return layout(self.value(value))

    def lines(self, text):
        """Texts of JSON lines, or any others."""
        return "\n".join(self.json(line) if line.startswith("{") and
                         line.endswith("}") and line != text else
                         self.text(line) for line in text.split("\n"))


def rows(values):
    """Numbers and texts, as many in a line as have room."""
    row = []
    for item in (json.dumps(value, ensure_ascii=False) for value in values):
        if row and len(", ".join([*row, item])) > 105:
            yield row
            row = []
        row.append(item)
    yield row


def layout(value, margin=""):
    """JSON in lines that a diff shows well: what fits is in one line."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + len(margin) <= 110 or not isinstance(value, (dict, list)):
        return line
    deeper = margin + " "
    if isinstance(value, list) and not any(
            isinstance(item, (dict, list)) for item in value):
        items = [", ".join(row) for row in rows(value)]
    elif isinstance(value, list):
        items = [layout(item, deeper) for item in value]
    else:
        items = [json.dumps(k, ensure_ascii=False) + ": " + layout(v, deeper)
                 for k, v in value.items()]
    first, last = "[]" if isinstance(value, list) else "{}"
    inner = f",\n{deeper}".join(items)
    return f"{first}\n{deeper}{inner}\n{margin}{last}"


PATTERNS = [(re.compile(pattern), name) for pattern, name in [
    (r"eyJ[\w-]+\.[\w-]+\.[\w-]*", "TOKEN"),
    (r"(?s)-----BEGIN.*END.*-----", "KEY"),
    (r"ssh-ed25519 \S+", "PUBLIC_KEY"),
    (r"\b[0-9a-f]{32,}\b", "HEX"),
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UUID"),
    (r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?",
     "TIME"),
    (r"datetime\.datetime\(.*?timezone\.utc\)", "TIME"),
    (r"\b(?=1[6-9]|2[0-5])\d{10}(\d{3}){0,2}\b", "TIME"),
    (r'(?<=":")\d{4,5}(?=")', "PORT"),
    (r"(127\.0\.0\.1|localhost):\d+", r"\1:PORT"),
]]
