"""schema.py - read the tables, records and calls that src/api/schema declares

A line that begins at the margin begins one; the lines below it, indented, are
its columns, fields or properties.  docs/internals/api.md has the grammar.
"""
import pathlib
import re

KINDS = {"text": "TEXT", "state": "STATE", "flag": "FLAG", "number": "NUMBER", "whole": "WHOLE",
         "object": "OBJECT", "texts": "TEXTS", "any": "ANY", "time": "TIME",
         "list": "LIST", "map": "MAP"}
FLAGS = {"empty": "PAI__MAY_BE_EMPTY", "mail": "PAI__IS_MAIL",
         "unless-patch": "PAI__NEEDED_WHOLE"}
PROPERTIES = {"summary", "right", "mode", "body", "query", "answer", "status",
              "errors", "take", "most", "handler", "content", "python"}
SWITCHES = {"signed": "is_signed", "resumes": "resumes", "packs": "packs",
            "noted": "noted", "acts": "acts", "submits": "submits",
            "streams": "streams", "no-store": "no_store", "counted": "counted"}
#: Kinds of columns, and what a row has of them.
SQL = {"text": "TEXT", "word": "TEXT NOT NULL DEFAULT ''", "class": "ANY",
       "id": "INTEGER", "number": "INTEGER NOT NULL DEFAULT 0",
       "flag": "INTEGER NOT NULL DEFAULT 0", "time": "INTEGER",
       "last": "INTEGER", "maybe": "INTEGER", "bytes": "BLOB"}
COLUMNS = {"text": "const char *", "word": "const char *",
           "class": "const char *", "id": "uint64_t ", "number": "uint32_t ",
           "flag": "bool ", "time": "pai_time ", "last": "pai_time ",
           "maybe": "pai__maybe ", "bytes": "pai__bytes ",
           "milli": "uint64_t "}


#: What a member of a view is of a field of this kind; else a value.
VIEWS = {"TEXT": "TEXT", "STATE": "STATE", "FLAG": "FLAG", "NUMBER": "REAL",
         "WHOLE": "WHOLE", "TIME": "TIME"}


#: Files of the folder schema, in their order: parts come before their users, and
#: of two paths that fit a request the first one counts.
FILES = ("tasks", "jobs", "files", "accounts", "tokens", "storages",
         "marketplace", "cluster", "server", "metrics", "older")


class SchemaError(Exception):
    """Something in the files is wrong: where, and what."""


class Field:
    """A member of a record, or a parameter of a query."""

    def __init__(self, name, kind, of, flags, settings, source, doc):
        self.name, self.kind, self.of = name, kind, of
        self.flags, self.settings, self.doc = flags, settings, doc
        self.source = source  # the column that it has the value of
        self.part = None  # the fields that it was declared in


class Record:
    """A JSON object, or some fields of one; `table`: what it is written of."""

    def __init__(self, name, table, doc):
        self.name, self.table, self.doc = name, table, doc
        self.fields = []


class Column:
    """A member of a row; its kind may be another table, whose latest row it
    is."""

    def __init__(self, name, kind, doc):
        self.name, self.kind, self.doc = name, kind, doc
        self.column, self.list, self.update = name, "", "0"
        self.since = None  # the version of the database that it came with
        self.unique = False
        self.stored = True


class Table:
    """A table of the database, and the struct of its rows; or, with no name in
    SQL, a struct that records are written from."""

    def __init__(self, name, sql, doc):
        self.name, self.sql, self.doc = name, sql, doc
        self.since = None  # the version of the database that it came with
        self.columns = []

    def find(self, name):
        for column in self.columns:
            if column.name == name:
                return column
        raise SchemaError("table %s has no '%s'" % (self.name, name))


class Member:
    """A member of a view: where its value is in the record.  `c` is its kind,
    None if programs in C do not have it; `python` its name, likewise."""

    def __init__(self, name, path, doc):
        self.name, self.path, self.doc = name, path, doc
        self.fields = []  # that the path leads through
        self.c, self.python = None, name
        self.quiet = False  # not in what Python's repr() says
        self.needed = False  # an answer without it is not understood
        self.column = None  # its name as a column of the CLI's tables, and
        self.width = 0  # its least width


class View:
    """A struct of the public headers that is filled from a record; and a class
    in Python, if it has a name there."""

    def __init__(self, name, struct, last, record):
        self.name, self.struct, self.last = name, struct, last
        self.record, self.members = record, []
        self.python, self.doc = None, ""


class Answer:
    """One thing that a call may answer."""

    def __init__(self, kind, of, media, header, header_doc):
        self.kind, self.of, self.media = kind, of, media
        self.header, self.header_doc = header, header_doc


class Call:
    """An operation: its name, its method and its paths."""

    def __init__(self, name, method, paths):
        self.name, self.method, self.paths = name, method, paths
        self.handler, self.summary, self.right = name, None, None
        self.mode, self.body, self.errors = None, None, None
        self.queries, self.answers = [], None
        self.status, self.take, self.most = None, None, None
        self.content = None  # type of a body that is no record
        self.python = None  # its method of clients, if that has another form
        self.switches = []


def _type(text):
    """A kind of value, and of what record it is."""
    nullable = text.endswith("?")
    text = text[:-1] if nullable else text
    if text in KINDS:
        return KINDS[text], None, nullable
    if text[0] == "[" and text[-1] == "]":
        return "LIST", text[1:-1], nullable
    if text[0] == "{" and text[-1] == "}":
        return "MAP", text[1:-1], nullable
    if re.fullmatch(r"[A-Z]\w*", text):
        return "OBJECT", text, nullable
    raise SchemaError("'%s' is no type" % text)


def _split_doc(line):
    words, _, doc = line.partition(" -- ")
    return words.split(), doc.strip()


def _field(line, answered):
    words, doc = _split_doc(line)
    name, kind = words[0], words[1]
    flags, settings, source = [], {}, None
    optional = name.endswith("?")
    name = name.rstrip("?")
    kind, of, nullable = _type(kind)
    for word in words[2:]:
        key, equals, value = word.partition("=")
        if word[0] == "<":
            source = word[1:]
        elif equals:
            settings[key] = value.replace("\\s", " ")
        elif word in FLAGS:
            flags.append(FLAGS[word])
        else:
            raise SchemaError("'%s' is no property of a field" % word)
    if nullable:
        flags.append("PAI__MAY_BE_NULL")
    if answered and not optional and "PAI__NEEDED_WHOLE" not in flags:
        flags.insert(0, "PAI__NEEDED")
    return Field(name, kind, of, flags, settings, source, doc)


def _column(line):
    words, doc = _split_doc(line)
    column = Column(words[0], words[1], doc)
    for word in words[2:]:
        key, _, value = word.partition("=")
        if word == "unstored":
            column.stored = False
        elif word == "unique":
            column.unique = True
        elif key in ("column", "update", "since"):
            setattr(column, key, value)
        elif key == "in":
            column.list = value
        else:
            raise SchemaError("'%s' is no property of a column" % word)
    return column


def _answer(text):
    if text == "nothing":
        return Answer("0", None, None, None, None)
    media = re.fullmatch(r"(\w+/[\w.+-]+)(?:\s+header\s+(\S+)\s+(.*))?", text)
    if media:
        return Answer("0", None, media[1], media[2], media[3])
    kind, of, _ = _type(text)
    return Answer(kind, of, None, None, None)


class Schema:
    """All tables, records and calls, in the order of their files."""

    def __init__(self, paths=None):
        self.tables, self.records, self.parts = {}, {}, {}
        self.views, self.calls = [], []
        folder = pathlib.Path(__file__).parent / "schema"
        for path in paths or [folder / (name + ".txt") for name in FILES]:
            self._read(pathlib.Path(path))
        self._check()

    def _read(self, path):
        block = None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                if line[0] != " ":
                    block = self._begin(line)
                else:
                    self._add(block, line.strip())
            except SchemaError as error:
                raise SchemaError("%s:%d: error: %s" % (path, number, error))

    def _add(self, block, line):
        """A line below the one that begins a declaration."""
        if isinstance(block, Call):
            self._property(block, line)
        elif block is None or len(line.split()) < 2:
            raise SchemaError("'%s' has no kind, or nothing above" % line)
        elif isinstance(block, View):
            self._view_member(block, line)
        elif isinstance(block, Table):
            block.columns.append(_column(line))
            block.columns[-1].stored &= block.sql is not None
        else:
            self._member(block, line)

    def _begin(self, line):
        words, doc = _split_doc(line)
        if words[0] == "table" and len(words) in (2, 3):
            key, _, since = words[-1].partition("=")
            table = Table(words[1], words[1] if since else key, doc)
            table.since = since or None
            self.tables[words[1]] = table
            return table
        if words[0] == "row" and len(words) == 2:
            self.tables[words[1]] = Table(words[1], None, doc)
            return self.tables[words[1]]
        if words[0] in ("record", "fields") and (
                len(words) == 2 or (len(words) == 4 and words[2] == "of")):
            record = Record(words[1], words[3] if len(words) == 4 else None,
                            doc)
            if record.table is not None and record.table not in self.tables:
                raise SchemaError("there is no table '%s'" % record.table)
            where = self.records if words[0] == "record" else self.parts
            if record.name in where:
                raise SchemaError("%s is declared twice" % record.name)
            where[record.name] = record
            return record
        if words[0] == "view" and len(words) >= 4:
            view = View(words[1], words[2], words[3],
                        words[5] if words[4:5] == ["of"] else None)
            view.doc = doc
            if words[-1].startswith("py="):
                view.python = words[-1][3:]
            self.views.append(view)
            return view
        if words[0] == "call" and len(words) >= 4:
            if any(call.name == words[1] for call in self.calls):
                raise SchemaError("%s is declared twice" % words[1])
            call = Call(words[1], words[2], words[3:])
            self.calls.append(call)
            return call
        raise SchemaError("no table, row, record, fields, view or call begins so: "
                          "'%s'" % line)

    def _view_member(self, view, line):
        (name, path, *words), doc = _split_doc(line)
        member = Member(name, path, doc)
        kind = None
        for word in words:
            key, _, value = word.partition("=")
            if word in ("quiet", "needed"):
                setattr(member, word, True)
            elif key == "py":
                member.python = value if value != "-" else None
            elif key == "column":
                column, _, width = value.partition(":")
                member.column, member.width = column or name, int(width or 0)
            elif word != "c=-":
                kind = word.upper().replace("-", "_")
        if kind is None:
            member.fields = self._at(view.record, path.split("/"))
            kind = VIEWS.get(member.fields[-1].kind, "VALUE")
            if kind == "WHOLE" and "PAI__MAY_BE_NULL" in member.fields[-1].flags:
                kind = "MAYBE"
            member.doc = doc or member.fields[-1].doc
        member.c = kind if "c=-" not in words else None
        view.members.append(member)

    def _at(self, name, path):
        """The fields that a path leads through."""
        for field in self.records[name].fields if name in self.records else ():
            if field.name == path[0]:
                return [field] + (self._at(field.of, path[1:]) if path[1:]
                                  else [])
        raise SchemaError("there is no field '%s'" % path[0])

    def _member(self, record, line):
        if line.startswith("+"):
            part = self.parts.get(line[1:].strip())
            if part is None:
                raise SchemaError("there are no fields '%s'" % line[1:])
            record.fields += part.fields
        else:
            field = _field(line, True)
            field.part = record
            record.fields.append(field)

    def _like(self, call, name):
        for other in self.calls:
            if other.name == name:
                keep = call.name, call.method, call.paths
                call.__dict__.update(other.__dict__)
                call.name, call.method, call.paths = keep
                call.python = None
                call.queries = list(other.queries)
                call.switches = list(other.switches)
                return
        raise SchemaError("there is no call '%s' above" % name)

    def _property(self, call, line):
        word, _, rest = line.partition(" ")
        rest = rest.strip()
        if word in SWITCHES:
            call.switches.append(SWITCHES[word])
        elif word == "like":
            self._like(call, rest)
        elif word == "query":
            call.queries.append(_field(rest, False))
        elif word == "answer":
            call.answers = [_answer(one.strip()) for one in rest.split(" | ")]
        elif word in PROPERTIES:
            setattr(call, word, rest)
        else:
            raise SchemaError("'%s' is no property of a call" % word)

    def _check(self):
        for record in [*self.records.values(), *self.parts.values()]:
            for field in record.fields:
                if not field.doc:
                    raise SchemaError("%s: %s has no description, as in "
                                      "\"%s text -- name of the user\"" % (
                                          record.name, field.name, field.name))
        names = [f.of for r in self.records.values() for f in r.fields]
        names += [a.of for c in self.calls for a in c.answers or ()]
        names += [c.body for c in self.calls]
        for name in names:
            if name is not None and name not in self.records:
                raise SchemaError("there is no record '%s'" % name)
        for call in self.calls:
            if not call.right or not call.summary:
                raise SchemaError("call %s: it needs a right and a summary"
                                  % call.name)
