"""What was found in a job file, or in a text of a cluster."""
import base64
import json
import re
from dataclasses import dataclass
from html import escape
from typing import (
    Any, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple)

from ._fields import TextEdit


@dataclass(frozen=True)
class Fix:
    """A way to correct what was found: all of its edits."""
    #: One line, as "write 'jobRetryCount'".
    title: str
    #: True: the meaning is certain or unchanged. False: a person should
    #: choose.
    sure: bool
    #: In the order of the text; they do not overlap.
    edits: Tuple[TextEdit, ...]

    def apply(self, text: str) -> str:
        """The text that was checked, with this correction."""
        lines = _LINES.findall(text[text.startswith("\ufeff"):])
        starts = [int(text.startswith("\ufeff"))]
        for line in lines:
            starts.append(starts[-1] + len(line))
        for edit in reversed(self.edits):
            start = starts[edit.line - 1] + edit.column - 1
            end = starts[edit.end_line - 1] + edit.end_column - 1
            text = text[:start] + edit.text + text[end:]
        return text


#: Lines with their line breaks.
_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$")


@dataclass(frozen=True)
class Diagnostic:
    """One thing that was found."""
    #: "error": the file is invalid; "warning": it is valid, but surely not
    #: meant so.
    severity: str
    #: Stable code, as "unknown-key".
    code: str
    #: JSON pointer of the place; "" for the whole file.
    pointer: str
    #: Start, from 1; columns count characters.
    line: int
    column: int
    #: End: behind the last character.
    end_line: int
    end_column: int
    #: One line that tells what is wrong.
    message: str
    #: One line that tells how to fix it.
    help: Optional[str]
    #: The line of the start, or a part of it, with asterisks for secrets.
    source: Optional[str]
    #: Start in `source`, from 1.
    source_column: int
    #: End in `source`; source_column + 1 if the finding ends on another line.
    source_end_column: int
    #: Possible fixes, the best first.
    fixes: Tuple[Fix, ...] = ()

    def __str__(self) -> str:
        return "%d:%d: %s: %s [%s]" % (self.line, self.column, self.severity,
                                       self.message, self.code)

    def _lines(self) -> Iterator[str]:
        """As a compiler shows it."""
        yield str(self)
        if self.source is not None:
            before = self.source[:self.source_column - 1]
            space = "".join(c if c == "\t" else " " for c in before)
            length = max(1, self.source_end_column - self.source_column)
            yield "  " + self.source
            yield "  " + space + "^" + "~" * (length - 1)
        if self.help is not None:
            yield "  help: " + self.help


@dataclass(frozen=True)
class Report:
    """All that was found in a file, in the order of the file.

    True if the file is valid; a list of its diagnostics; in print(), what a
    compiler would say.
    """
    valid: bool
    #: 1: job config v1; 2: job protocol v2; None: unknown, or no job file.
    version: Optional[int]
    diagnostics: Tuple[Diagnostic, ...]

    @property
    def errors(self) -> Tuple[Diagnostic, ...]:
        """The diagnostics that make the file invalid."""
        return tuple(d for d in self.diagnostics if d.severity == "error")

    def __bool__(self) -> bool:
        return self.valid

    def __len__(self) -> int:
        return len(self.diagnostics)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.diagnostics)

    def __getitem__(self, index: int) -> Diagnostic:
        return self.diagnostics[index]

    def __str__(self) -> str:
        lines: List[str] = []
        for diagnostic in self.diagnostics:
            lines.extend(diagnostic._lines())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = ((d.severity, "%d:%d" % (d.line, d.column), d.code,
                 "\n".join(filter(None, (d.message, d.help))), d.source or "")
                for d in self.diagnostics)
        return "<p>%s</p>" % ("valid" if self.valid else "invalid") + (
            html_table(("", "place", "code", "message", "source"), rows))


def make_report(text: str) -> Report:
    """Of the JSON that report.c writes."""
    told = json.loads(text)
    return Report(told["valid"], told.get("version"),
                  tuple(map(_diagnostic, told["diagnostics"])))


def _diagnostic(told: Dict[str, Any]) -> Diagnostic:
    fixes = tuple(
        Fix(fix["title"], fix["sure"],
            tuple(TextEdit(**edit) for edit in fix["edits"]))
        for fix in told["fixes"])
    values: Dict[str, Any] = {"help": None, "source": None,
                              "source_column": 0, "source_end_column": 0,
                              **told, "fixes": fixes}
    return Diagnostic(**values)


class Picture(str):
    """An SVG, which a notebook shows.  Its styles stay its own, and an exported
    notebook keeps it, because it goes as an image."""
    __slots__ = ()

    def __repr__(self) -> str:
        return "<openpai.Picture: %d characters>" % len(self)

    def _repr_svg_(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return '<img src="data:image/svg+xml;base64,%s">' % (
            base64.b64encode(self.encode()).decode())


def html_text(text: str) -> str:
    """Lines for a person."""
    return "<pre>%s</pre>" % escape(text)


def html_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table for notebooks, of texts, which it escapes."""
    def row(tag: str, cells: Sequence[object]) -> str:
        return "<tr>%s</tr>" % "".join(
            '<%s style="text-align: left; white-space: pre-wrap">%s</%s>' % (
                tag, escape(str(cell)), tag) for cell in cells)
    return "<table>%s%s</table>" % (
        row("th", head), "".join(row("td", cells) for cells in rows))
