"""verbs.py - write what the program says and takes, from src/cli/verbs

Usage: verbs.py FOLDER VERSION FILE...

The files declare the program's verbs, options that several have in common,
and groups; docs/internals/cli.md has the grammar.  Written are, in FOLDER, C
tables and structs (verbs.h, verbs.c), the manual page and the completions of
bash, zsh and fish, of which the rest is in files beside the first, NAME.in.
"""
import copy
import json
import pathlib
import re
import sys

import verbs_pages
from verbs_pages import PATHS, help_text, overview

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "api"))
import schema  # noqa: E402
from written import quote as c_text, write_changed  # noqa: E402

LINES = {"few", "many", "words", "misuse", "offer", "usage", "exit", "here",
         "some", "jobs"}
#: What comes of a call's answer.
SHOWN = {"table": "ROWS", "row": "ROW", "fields": "FIELDS", "form": "FORM",
         "answer": "JSON", "warn": "WARNING"}
#: What no member of a struct can be called.
TAKEN = {"count", "words", "command", "stdin"}


class Option:
    """One option: its names, the name of its value, what is said of it."""

    def __init__(self, line):
        head, dashes, self.text = (line + " ").partition(" -- ")
        if not dashes:
            raise SyntaxError("no text: " + line)
        self.text, self.more = self.text.strip(), ""
        words, _, rest = head.partition(" {")
        found = re.fullmatch(r"(?:-(\w), )?--([\w-]+)(?: (.+))?", words)
        if found is None:
            raise SyntaxError("no option: " + line)
        self.letter, self.name, self.arg = found.groups()
        self.props = dict(word.partition("=")[::2]
                          for word in rest.rstrip("}").split())
        self.member = self.name.replace("-", "_")
        if self.member in TAKEN:
            self.member += "_"
        self.to = None  # where its value goes, in C
        self.columns = []  # names of the columns that are its values
        self.usual = self.props.get("")  # {=VALUE}

    def head(self):
        return "%s--%s%s" % ("-%s, " % self.letter if self.letter else "",
                             self.name, " " + self.arg if self.arg else "")

    def usage(self):
        text = "-" + self.letter if self.letter else "--" + self.name
        text += "\0" + self.arg if self.arg else ""
        return ((text if "needed" in self.props else "[%s]" % text)
                + ("..." if "list" in self.props else ""))

    def help(self):
        usual = self.usual and self.usual != "-"
        text = self.text.replace("@", "%s and %s" % (
            ", ".join(self.columns[:-1]), "".join(self.columns[-1:])))
        return text + (" (default: %s)" % self.usual if usual else "")

    def choices(self):
        return " ".join(self.columns) or (
            self.props.get("one-of") or self.props.get("like")
            or "").replace("|", " ")

    def completion(self):
        """"file", "folder" or ""."""
        if self.choices():
            return ""
        for kind in ("file", "folder"):
            if kind in self.props:
                return kind
        return PATHS.get(self.arg, "")

    def kind(self):
        for prop, kind in (("into", "CHANGE"), ("list", "LIST"),
                           ("one-of", "CHOICE"), ("number", "NUMBER")):
            if prop in self.props:
                return kind
        return "TEXT" if self.arg else "FLAG"

    def c_type(self):
        return {"CHANGE": None, "LIST": "cli_words ", "FLAG": "bool "}.get(
            self.kind(), "const char *")


def head_of(line):
    """The heading of a column, its least width, and whether it is for
    numbers."""
    head, right, width = re.fullmatch(r"(.+?)(?: (>?)(\d+))?", line.partition(
        "  ")[0]).groups()
    return "" if head == "-" else head.replace("-", " "), width, right


def view_columns(name):
    """The columns that src/api/schema declares of a view."""
    shown = {"STATE": "{%s:state}", "WHOLE": "{%s|0}"}
    view, = (v for v in schema.Schema().views if v.name == name)
    for m in view.members:
        if m.column is not None:
            head = m.column.upper().replace("_", " ")
            yield "%s %s%d  %s" % (head, ">" if m.c == "WHOLE" else "", max(
                m.width, len(head)), shown.get(m.c, "{%s|-}") % m.path)


class Part:
    """A verb, or options that verbs have in common: items are Options, and
    texts as (kind, lines) with kinds > (both), >> (manual page), | (as is)."""

    def __init__(self, name, args="", brief=""):
        self.name, self.args, self.brief = name, args, brief
        self.items, self.lines, self.area = [], {}, None
        self.structs = []  # (type, member) of included options
        self.calls = []  # [name and arguments, what is shown, of what]

    def options(self):
        return [item for item in self.items if isinstance(item, Option)]

    def texts(self, key):
        return self.lines.get(key, [])

    def one(self, key, otherwise=None):
        return self.texts(key)[0] if self.texts(key) else otherwise

    def c_name(self):
        return re.sub(r"\W", "_", self.name)

    def command(self):
        return "[-- COMMAND" in self.args

    def words(self):
        """The least and the most words; the most None: any number."""
        if self.one("words") == "any":
            return 0, None
        args = self.args.split("[-- ")[0]
        least = sum(word[0] != "[" for word in args.split())
        return least, None if "..." in args else len(args.split())

    def usages(self):
        if self.texts("usage"):
            return self.texts("usage")
        shown = ["[OPTION]..."]
        if len(self.options()) < 10:
            shown = [o.usage() for o in self.options()]
        return [" ".join(shown + [self.args]).strip()]


class Call:
    """A call of the API that a verb makes."""

    def __init__(self, line):
        self.name, *self.arguments = line.split()
        self.shown, self.of = "NOTHING", ""


class Book:
    """All that the files declare."""

    def __init__(self):
        self.verbs, self.groups, self.shared, self.everyday = [], {}, {}, []
        self.tables = {}  # columns, or lines, of records
        self.area = self.part = None
        self.broken = False  # the paragraph ends here

    def read(self, text):
        entries = []
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line[0] == "#":
                continue
            if line.startswith("    "):  # it goes on
                entries[-1][1].append(line.strip())
            else:
                entries.append((number, [line.rstrip()]))
        for number, entry in entries:
            try:
                if entry[0][0] != " ":
                    self.declare(entry[0])
                else:
                    self.add(entry)
            except SyntaxError as error:
                raise SyntaxError("%d: %s" % (number, error)) from error
        for verb in self.verbs:
            for option in verb.options():
                if "columns" in option.props:
                    option.columns = [
                        head_of(line)[0].lower()
                        for line in self.tables[option.props["columns"]]
                        if head_of(line)[0]]

    def declare(self, line):
        kind, _, rest = line.partition(" ")
        rest, _, text = rest.partition(" -- ")
        if kind == "verb":
            found = re.fullmatch(r"([a-z][a-z-]*(?: [a-z][a-z-]*)?)(?: (.+))?",
                                 rest)
            if found is None:
                raise SyntaxError("no verb: " + rest)
            self.part = Part(found.group(1), found.group(2) or "", text)
            self.part.area = self.area
            self.verbs.append(self.part)
        elif kind == "options":
            name, *how = rest.split()
            self.part = Part(name)
            self.part.how = how
            self.shared[name] = self.part
        elif kind == "table":
            self.part = self.tables[rest] = []
        elif kind == "group":
            self.groups[rest] = text
        elif kind == "everyday":
            self.everyday = rest.split(", ")
        elif kind == "area":
            self.area = rest
        else:
            raise SyntaxError(line)

    def add(self, entry):
        line = entry[0].strip()
        if isinstance(self.part, list):
            kind, _, view = line.partition(" ")
            self.part += (view_columns(view) if kind == "view"
                          else [" ".join([line] + entry[1:])])
            return
        mark, _, rest = line.partition(" ")
        items = self.part.items
        if line.startswith("-"):
            text = [word for word in entry[1:] if not word.startswith(">>")]
            items.append(Option(" ".join([line] + text)))
            items[-1].more = " ".join(word[3:] for word in entry[1:]
                                      if word.startswith(">>"))
        elif mark in (">", ">>"):
            if (rest and items and isinstance(items[-1], list)
                    and items[-1][0] == mark and not self.broken):
                items[-1][1] += " " + rest
            elif rest:
                items.append([mark, rest])
            self.broken = not rest
            return
        elif mark == "|":
            text = entry[0][4:]
            if items and isinstance(items[-1], list) and items[-1][0] == "|":
                items[-1][1] += "\n" + text
            else:
                items.append(["|", text])
        elif mark == "+":
            self.include(rest.split())
        elif mark == "call":
            self.part.calls.append(Call(" ".join([rest] + entry[1:])))
        elif mark in SHOWN:
            self.part.calls[-1].shown = SHOWN[mark]
            self.part.calls[-1].of = rest
        elif mark in LINES:
            self.part.lines.setdefault(mark, []).append(
                " ".join([rest] + entry[1:]))
        else:
            raise SyntaxError(line)
        self.broken = False

    def include(self, words):
        if words[0] not in self.shared:
            raise SyntaxError("there are no options " + words[0])
        shared = self.shared[words[0]]
        if shared.how == ["struct"]:
            self.part.structs.append(("cli_%s_options" % shared.name,
                                      shared.name))
        for item in copy.deepcopy(shared.items):
            if isinstance(item, Option):
                if "-" + item.name in words:
                    continue
                if "!" + item.name in words:
                    item.props["needed"] = ""
                if shared.how == ["struct"] and item.to is None:
                    item.member = shared.name + "." + item.member
                elif shared.how[:1] == ["in"]:
                    item.to = "%s.%s" % (shared.how[1], item.member)
            self.part.items.append(item)


# --- C ----------------------------------------------------------------------


def c_members(options):
    """The members of a struct, and of which each is."""
    lines, into = [], []
    for option in options:
        if "in" in option.props or option.to or "." in option.member:
            continue
        if option.kind() == "CHANGE":
            if option.props["into"] not in into:
                into.append(option.props["into"])
                lines.append("  cli_changes %s;" % into[0])
        else:
            lines.append("  %s%s;" % (option.c_type(), option.member))
    return lines


def header(book):
    out = ["/* Written by verbs.py, from src/cli/verbs. */",
           "#ifndef PAI_CLI_VERBS_H", "#define PAI_CLI_VERBS_H", ""]
    for part in book.shared.values():
        if not part.how:
            continue
        name = "cli_%s_options" % part.name
        out += ["typedef struct %s {" % name] + c_members(part.options())
        out += ["} %s;" % name, ""]
        if part.how[0] == "in":
            out += ["extern %s %s;" % (name, part.how[1]), ""]
    for verb in book.verbs:
        name = verb.c_name()
        out += ["typedef struct cli_%s_args {" % name, "  CLI_GIVEN"]
        out += c_members(verb.options())
        out += ["  %s %s;" % struct for struct in verb.structs]
        out += ["} cli_%s_args;" % name]
        if not verb.calls:
            out += ["int cli_do_%s(const cli_%s_args *a);" % (name, name)]
        out += [""]
    out += ["extern const cli_column cli_columns_%s[];" % name
            for name in book.tables]
    out += ["", "typedef union cli_args {", "  cli_given any;"]
    out += ["  cli_%s_args %s;" % (verb.c_name(), verb.c_name() + "_")
            for verb in book.verbs]
    return out + ["} cli_args;", "", "#endif"]


def c_option(verb, option):
    kind, props = option.kind(), option.props
    member = props["into"] if kind == "CHANGE" else option.member
    to = props.get("in") or option.to or "args.%s_.%s" % (verb.c_name(),
                                                          member)
    parts = [".name = " + c_text(option.name), ".kind = CLI_" + kind,
             ".to = &" + to]
    if option.letter:
        parts.append(".letter = '%s'" % option.letter)
    if option.usual is not None:
        parts.append(".usual = " + c_text(option.usual))
    for prop, member in (("form", "form"), ("one-of", "form"),
                         ("not", "excludes"), ("needs", "needs")):
        if prop in props:
            parts.append(".%s = %s" % (member, c_text(props[prop])))
    if props.get("number"):
        least, _, most = props["number"].partition("..")
        parts.append(".least = " + least)
        parts += [".most = " + most] if most else []
    parts += [".%s = true" % prop for prop in ("needed", "secret")
              if prop in props]
    return "  { %s }," % ", ".join(parts)


def c_place(verb, name):
    """An option of that name, and where its value is."""
    for option in verb.options():
        if option.name == name:
            return option, "&" + (option.props.get("in") or option.to
                                  or "args.%s_.%s" % (verb.c_name(),
                                                      option.member))
    raise SyntaxError("there is no option --" + name)


def c_from_option(verb, value):
    names, *how = value.split(":")
    names = [name[2:] for name in names.split("/")]
    option, place = c_place(verb, names[0])
    parts = [".value = " + place]
    if len(names) > 1:
        return ["EITHER"] + parts + [".no = " + c_place(verb, names[1])[1]]
    if option.kind() == "FLAG":
        return ["GIVEN" if how else "FLAG"] + parts
    if how[:1] == ["list!"]:
        parts.append(".always = true")
    if how[1:]:
        parts.append(".text = " + c_text(how[1]))
    return [how[0].strip("!").upper() if how else "TEXT"] + parts


def c_argument(verb, argument):
    member, _, value = argument.partition("=")
    words = re.findall(r"([A-Z]+)[^ .]*(\.\.\.)?", verb.args)
    names = [word for word, _ in words]
    if value.startswith("--"):
        kind, *parts = c_from_option(verb, value)
    elif value in names:
        at = names.index(value)
        kind = ("WORD" if not words[at][1] else
                "JOBS" if verb.texts("jobs") else "WORDS")
        parts = [".word = %d" % at]
    else:
        try:
            json.loads(value)
        except ValueError:
            value = json.dumps(value)
        kind, parts = "JSON", [".text = " + c_text(value)]
    return "  { %s }," % ", ".join([".member = " + c_text(member),
                                    ".from = CLI_FROM_" + kind] + parts)


def c_call(verb, number, call):
    parts = [".name = " + c_text(call.name), ".show = CLI_SHOW_" + call.shown]
    if call.arguments:
        parts.append(".arguments = arguments_%s_%d, .count = %d" % (
            verb.c_name(), number, len(call.arguments)))
    table, _, rows = call.of.partition(" at ")
    if call.shown in ("ROWS", "ROW", "FIELDS"):
        parts.append(".columns = cli_columns_%s, .rows = %s" % (table,
                                                            c_text(rows)))
    elif call.of:
        parts.append(".form = " + c_text(call.of))
    return "  { %s }," % ", ".join(parts)


def c_calls(verb):
    """What a verb is that has no function of its own."""
    name, out = verb.c_name(), []
    for number, call in enumerate(verb.calls):
        if call.arguments:
            out.append("static const cli_argument arguments_%s_%d[] = {" % (
                name, number))
            out += [c_argument(verb, word) for word in call.arguments]
            out += ["};"]
    out.append("static const cli_api_call calls_%s[] = {" % name)
    out += [c_call(verb, number, call)
            for number, call in enumerate(verb.calls)]
    parts = [".calls = calls_" + name]
    if any(option.name == "json" for option in verb.options()):
        parts.append(".json = " + c_place(verb, "json")[1])
    if verb.one("some"):
        parts.append(".some = " + c_text(verb.one("some")))
    if verb.one("jobs"):
        states, _, does = verb.one("jobs").partition(" -- ")
        parts.append(".does = %s, .selection = &args.%s_.selection" % (
            c_text(does), name))
        parts += [".fit = " + c_text(states)] if states != "any" else []
    return out + ["  { .name = NULL },", "};", "static const cli_api api_%s = "
                  "{ %s };" % (name, ", ".join(parts))]


def c_columns(name, lines):
    out = ["const cli_column cli_columns_%s[] = {" % name]
    for line in lines:
        form = line.partition("  ")[2]
        head, width, right = head_of(line)
        parts = [".head = " + c_text(head), ".form = " + c_text(form.strip())]
        parts += [".width = " + width] if width else []
        parts += [".right = true"] if right else []
        out.append("  { %s }," % ", ".join(parts))
    return out + ["  { .head = NULL },", "};"]


def chunks(text):
    """Pieces of a text that a compiler of C takes, as strings."""
    out = [""]
    for line in text.splitlines(keepends=True):
        if len(out[-1]) + len(line) > 3900:
            out.append("")
        out[-1] += line
    return ", ".join("\n      " + "\n      ".join(
        c_text(line) for line in piece.splitlines(keepends=True))
        for piece in out)


def c_verb(verb):
    least, most = verb.words()
    name = verb.c_name()
    parts = [".name = " + c_text(verb.name), ".brief = " + c_text(verb.brief),
             ".help = {%s }" % chunks(help_text(verb)),
             ".run = do_" + name, ".least = %d" % least,
             ".most = %s" % ("CLI_ANY" if most is None else most),
             ".misuse = " + verb.one("misuse", "2"),
             ".needs = " + c_text(verb.args or "no argument")]
    parts += [".%s = %s" % (key, c_text(verb.one(key)))
              for key in ("few", "many") if verb.one(key)]
    if verb.options():
        parts.append(".options = options_%s, .count = %d"
                     % (name, len(verb.options())))
    parts += [".asks = true"] if not verb.texts("here") else []
    parts += [".command = true"] if verb.command() else []
    return "  { %s }," % ",\n    ".join(parts)


def tables(book):
    out = ["/* Written by verbs.py, from src/cli/verbs. */",
           '#include "calls.h"', "",
           "static cli_args args;", "cli_given *const cli_words_given = "
           "&args.any;"]
    out += ["cli_%s_options %s;" % (part.name, part.how[1])
            for part in book.shared.values() if part.how[:1] == ["in"]]
    for name, lines in book.tables.items():
        out += c_columns(name, lines)
    for verb in book.verbs:
        name = verb.c_name()
        run = "cli_do_%s(&args.%s_)" % (name, name)
        out.append("")
        if verb.calls:
            out += c_calls(verb)
            run = "cli_make_calls(&api_%s, &args.any)" % name
        out += ["static int do_%s(void)" % name, "{", "  return %s;" % run,
                "}"]
        if verb.options():
            out += ["static const cli_option options_%s[] = {" % name]
            out += [c_option(verb, option) for option in verb.options()]
            out += ["};", "_Static_assert(sizeof(options_%s) / "
                    "sizeof(options_%s[0]) < CLI_OPTIONS, \"%s\");" %
                    (name, name, verb.name)]
    out += ["", "const cli_verb cli_verbs[] = {"]
    out += [c_verb(verb) for verb in book.verbs]
    out += ["};", "const size_t cli_verb_count = %d;" % len(book.verbs), "",
            "const cli_group cli_groups[] = {"]
    out += ["  { %s, %s }," % (c_text(name), c_text(text))
            for name, text in book.groups.items()]
    out += ["};", "const size_t cli_group_count = %d;" % len(book.groups), "",
            "const char cli_overview[] =\n  %s;" % "\n  ".join(
                c_text(line + "\n") for line in overview(book))]
    return out


# --- all --------------------------------------------------------------------

def fill(template, values):
    """A text, with what stands for @NAME@."""
    for name, value in values.items():
        template = template.replace("@%s@" % name, value)
    return template


def main(folder, version, files):
    book, source = Book(), pathlib.Path(files[0]).parent
    for name in files:
        try:
            book.read(pathlib.Path(name).read_text())
        except SyntaxError as error:
            sys.exit("%s:%s" % (name, error))
    pages = {"openpai.1": {"VERSION": version,
                           "VERBS": "\n".join(verbs_pages.page(book))},
             "_openpai": verbs_pages.zsh(book),
             "openpai.bash": verbs_pages.bash(book)}
    written = {"verbs.h": header(book), "verbs.c": tables(book),
               "openpai.fish": verbs_pages.fish(book)}
    written = {name: "\n".join(lines) + "\n"
               for name, lines in written.items()}
    for name, values in pages.items():
        written[name] = fill((source / (name + ".in")).read_text(), values)
    write_changed(pathlib.Path(folder), written)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
