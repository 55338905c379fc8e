"""verbs_pages.py - what people read of verbs: help, manual page, completions

verbs.py has what a verb and an option are.
"""
import re
import textwrap

WIDTH = 79
#: What an argument of that name is completed with.
PATHS = {"FILE": "file", "LOG": "file", "TRACE": "file", "SOURCE": "file",
         "TARGET": "file", "CONFIG": "file", "X": "file", "DIR": "folder"}


# --- help -------------------------------------------------------------------

def wrap(text, first="", rest=None, width=WIDTH):
    return textwrap.wrap(text, width, initial_indent=first,
                         subsequent_indent=first if rest is None else rest,
                         break_long_words=False, break_on_hyphens=False)


def usage_lines(verb):
    before = "usage: "
    for usage in verb.usages():
        start = "%sopenpai %s " % (before, verb.name)
        for line in wrap(usage, start, " " * 13) or [start.rstrip()]:
            yield line.replace("\0", " ")
        before = " " * len(before)


def exit_lines(verb):
    codes = [text.partition(" ")[::2] for text in verb.texts("exit")]
    misuse = verb.one("misuse", "2")
    if not any(code == misuse for code, _ in codes):
        codes.append((misuse, "usage error"))
    if all(code.isdigit() for code, _ in codes):
        return wrap("Exit status: " + ", ".join(
            "%s %s" % code for code in codes))
    return ["Exit status:"] + [line for code, text in codes for line in wrap(
        text, "  %-7s" % code, " " * 9)]


def help_text(verb):
    heads = [len(o.head()) for o in verb.options() if len(o.head()) <= 20]
    column = max(heads + [10]) + 4
    last = verb.options()[-1] if verb.options() else None
    blocks, previous = [list(usage_lines(verb)), [verb.brief]], None
    for item in verb.items:
        if not isinstance(item, list):
            if previous is None or isinstance(previous, list):
                blocks.append([])
            head = "  " + item.head()
            lines = wrap(item.help(), " " * column)
            if len(head) + 2 <= column:
                lines[0] = head.ljust(column) + lines[0].strip()
            else:
                lines.insert(0, head)
            blocks[-1] += lines + (["  -h, --help"] if item is last else [])
        elif item[0] == "|":
            blocks.append(item[1].split("\n"))
        elif item[0] == ">":
            blocks.append(wrap(item[1]))
        else:
            continue
        previous = item
    if last is None:
        blocks.append(["  -h, --help"])
    blocks.append(exit_lines(verb))
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def overview(book):
    """What `openpai help` says: one screen."""
    verbs = {verb.name: verb for verb in book.verbs}
    yield "usage: openpai VERB [OPTIONS] [ARGUMENTS]"
    yield ""
    for name in book.everyday:
        yield "  %-11s %s" % (name, verbs[name].brief)
    yield ""
    areas = {}
    for verb in book.verbs:
        first = verb.name.split()[0]
        seen = areas.setdefault(verb.area, [])
        if verb.name not in book.everyday and first not in seen:
            seen.append(first)
    for area, seen in areas.items():
        yield from wrap(", ".join(seen), "  %-11s " % (area + ":"), " " * 14)
    yield ""
    yield "openpai help VERB explains a verb; openpai help --all lists all."


# --- the manual page --------------------------------------------------------

def roff(text, names=()):
    """A text: what is typed in bold, what stands for something in italics."""
    def token(found):
        word = found.group(0)
        if re.match(r"[^\w]*--?\w", word) or re.search(r"\d-\d", word):
            word = word.replace("-", "\\-")
        bare = re.sub(r"\W+$", "", word)
        if re.match(r"\\-\\?-?\w", bare):
            return "\\fB%s\\fP%s" % (bare, word[len(bare):])
        if bare in names:
            return "\\fI%s\\fP%s" % (bare, word[len(bare):])
        return word

    text = text.replace("\\", "\\e")
    text = re.sub(r"['`](openpai [^'`]+)['`]",
                  lambda found: "\\fB%s\\fP" % found.group(1).replace(
                      "-", "\\-").replace(" ", "\0"), text)
    text = re.sub(r"\S+", token, text).replace("\0", " ")
    return "\n".join("\\&" + line if line[:1] in ".'" else line
                     for line in text.split("\n"))


def page_verb(verb):
    names = {word for text in [verb.args] + [
        o.arg or "" for o in verb.options()]
        for word in re.findall(r"[A-Z]{2,}|\b[A-Z]\b", text)}
    yield '.SS "%s"' % (verb.name + " " + verb.args).strip().replace(
        "-", "\\-")
    yield roff(verb.brief + ".")
    for item in verb.items:
        if not isinstance(item, list):
            yield ".TP"
            yield ".B " + roff(item.head()).replace("\\fB", "").replace(
                "\\fP", "")
            text = item.help()
            if re.match(r"\w*", text).group(0) not in item.choices().split():
                text = text[0].upper() + text[1:]
            yield roff(text + "." + (" " + item.more if item.more else ""),
                       names)
        elif item[0] == "|":
            yield ".PP\n.nf"
            yield roff(item[1]).replace("\\fB", "").replace("\\fP", "")
            yield ".fi"
        else:
            yield ".PP"
            yield roff(item[1], names)
    yield ".PP"
    lines = exit_lines(verb)
    if len(lines[0]) > 12:
        yield roff(" ".join(lines)) + "."
    else:
        yield ".nf\n" + roff("\n".join(lines)) + "\n.fi"


def page(book):
    for verb in book.verbs:
        yield from page_verb(verb)


# --- completions ------------------------------------------------------------

def short(option):
    """What is said of an option beside its name in a list."""
    text = re.split(r"; | \(|\. ", option.text)[0]
    return text if len(text) < 70 else re.split(r", |: ", text)[0]


def offered(verb):
    """What the words of a verb are completed with: words, "file" or ""."""
    if verb.one("offer"):
        return verb.one("offer")
    args = re.findall(r"[A-Z]+", verb.args.split("[-- ")[0])
    return "file" if any(PATHS.get(arg) == "file" for arg in args) else ""


def firsts(book):
    """The first words, and what is said of each."""
    seen = {}
    for verb in book.verbs:
        first = verb.name.split()[0]
        seen.setdefault(first, book.groups.get(first, verb.brief))
    seen["help"] = "List the verbs, or explain one of them"
    return seen


def of_group(book, group):
    return [verb for verb in book.verbs if verb.name.startswith(group + " ")]


def bash(book):
    options, values = [], {}
    for group in book.groups:
        verbs = " ".join(v.name.split()[1] for v in of_group(book, group))
        options.append("    %s) options='%s --help' ;;" % (group, verbs))
        options.append("    'help %s') options='%s' ;;" % (group, verbs))
    for verb in book.verbs:
        words, kind = offered(verb), ""
        if words == "file":
            kind, words = " files=yes", ""
        options.append("    '%s') options='%s'%s ;;" % (verb.name, " ".join(
            ["--" + o.name for o in verb.options()] + ["--help"]
            + words.split()), kind))
        for option in verb.options():
            does = ("kind='%s'" % option.completion() if option.completion()
                    else "options='%s' files=''" % option.choices())
            if option.completion() or option.choices():
                values.setdefault(does, []).append(
                    "'%s --%s'" % (verb.name, option.name))
    return {"VERBS": " ".join(firsts(book)), "GROUPS": " | ".join(book.groups),
            "OPTIONS": "\n".join(options), "VALUES": "\n".join(
                "    %s)\n      %s ;;" % (" | \\\n      ".join(names), does)
                for does, names in values.items())}


def quoted(text):
    return "'%s'" % text.replace("'", "'\\''")


def zsh_option(option):
    text = "[%s]" % re.sub(r"([\[\]:])", r"\\\1", short(option))
    if option.arg:
        text += ":%s:%s" % (
            re.sub(r"[\[\]:|]", " ", option.arg),
            {"file": "_files", "folder": "_files -/"}.get(
                option.completion(), "(%s)" % option.choices()
                if option.choices() else ""))
    star = "*" if {"list", "into"} & option.props.keys() else ""
    if not option.letter:
        return quoted(star + "--" + option.name + text)
    return "%s{-%s,--%s}%s" % (star and quoted(star), option.letter,
                               option.name, quoted(text))


def zsh(book):
    def entries(pairs):
        return "\n".join("  " + quoted("%s:%s" % pair) for pair in pairs)

    cases = []
    for verb in book.verbs:
        words = offered(verb)
        rest = (["'*:file:_files'"] if words == "file"
                else ["'*:word:(%s)'" % words] if words else [])
        specs = [zsh_option(option) for option in verb.options()]
        specs += [quoted("--help[explain %s]" % verb.name)] + rest
        cases.append("  '%s')\n    _arguments %s\n    ;;" % (
            verb.name, " \\\n      ".join(specs)))
    groups = ["%s_verbs=(\n%s\n)" % (group, entries(
        (v.name.split()[1], v.brief) for v in of_group(book, group)))
        for group in book.groups]
    return {"VERBS": entries(firsts(book).items()),
            "LISTS": " ".join(name + "_verbs" for name in book.groups),
            "GROUPS": "\n".join(groups), "CASES": "\n".join(cases),
            "NAMES": "|".join(book.groups)}


def fish(book):
    def say(condition, rest, text):
        text = text[0].upper() + text[1:]
        return "complete -c openpai -n %s %s -d %s" % (
            quoted(condition), rest, quoted(text).replace("'\\''", "\\'"))

    seen = "__fish_seen_subcommand_from "
    yield "# Completion of openpai(1) for fish.  Written by verbs.py."
    yield say("__fish_use_subcommand", "-f -l help", "List the verbs")
    yield say("__fish_use_subcommand", "-f -l version", "Print the version")
    for first, text in firsts(book).items():
        yield say("__fish_use_subcommand", "-f -a " + first, text)
    for verb in book.verbs:
        words = verb.name.split()
        if len(words) > 1:
            others = " ".join(v.name.split()[1]
                              for v in of_group(book, words[0]))
            yield say(seen + words[0] + "; and not " + seen + others,
                      "-f -a " + words[1], verb.brief)
        condition = "; and ".join(seen + word for word in words)
        if offered(verb) not in ("", "file"):
            yield "complete -c openpai -n '%s' -f -a '%s'" % (condition,
                                                              offered(verb))
        for option in verb.options():
            value = ("" if not option.arg
                     else " -x -a '%s'" % option.choices()
                     if option.choices()
                     else " -r" if option.completion() else " -x")
            yield say(condition, "%s-l %s%s" % (
                "-s %s " % option.letter if option.letter else "",
                option.name, value), short(option))
        yield say(condition, "-l help", "Explain " + verb.name)
    yield "complete -c openpai -n '%shelp' -f -a '%s'" % (seen, " ".join(
        name for name in firsts(book) if name != "help"))
