"""Fails if what src/cli/verbs declares cannot be right.

Usage: cli.py ROOT [FOLDER].  The files are read as src/cli/verbs.py reads them;
FOLDER has what it has written of them, which shells and groff must understand
where they are installed.
"""
import pathlib
import shutil
import subprocess
import sys

import source

KNOWN = {"list", "form", "into", "number", "one-of", "like", "file", "folder",
         "", "needed", "needs", "not", "in", "secret", "columns"}  # properties of options
READERS = (("bash -n", "openpai.bash"), ("shellcheck", "openpai.bash"),
           ("zsh -n", "_openpai"), ("fish -n", "openpai.fish"),
           ("groff -man -Tutf8 -ww -K utf8 -z", "openpai.1"))


def read(root):
    """The module verbs, and all that the files declare."""
    sys.path.insert(0, str(root / "src/cli"))
    import verbs  # pylint: disable=import-outside-toplevel
    book = verbs.Book()
    files = sorted((root / "src/cli/verbs").glob("*.txt"))
    for path in sorted(files, key=lambda path: path.stem != "shared"):
        book.read(path.read_text())
    return verbs, book


def of_verb(verb):
    options = verb.options()
    names = [option.name for option in options]
    marks = names + [option.letter for option in options if option.letter]
    for mark in sorted({mark for mark in marks if marks.count(mark) > 1}):
        yield "two options are called %s" % mark
    for option in options:
        others = option.props.get("not", "").split(",")
        for other in others + [option.props.get("needs", "")]:
            if other and other not in names:
                yield "--%s speaks of --%s, which there is not" % (
                    option.name, other)
        for prop in option.props.keys() - KNOWN:
            yield "--%s: there is no property %s" % (option.name, prop)
        if not option.text or option.text.endswith("."):
            yield "--%s is no phrase: '%s'" % (option.name, option.text)
    if not verb.brief[:1].isupper() or verb.brief.endswith("."):
        yield "'%s' is no sentence without its period" % verb.brief
    if not verb.texts("exit"):
        yield "no exit status"


def check(verbs, book):
    names = [verb.name for verb in book.verbs]
    for verb in book.verbs:
        group = verb.name.split()[0]
        if " " in verb.name and group not in book.groups:
            yield "%s: there is no group %s" % (verb.name, group)
        if names.count(verb.name) > 1:
            yield "%s: declared twice" % verb.name
        for wrong in of_verb(verb):
            yield "%s: %s" % (verb.name, wrong)
        for line in verbs.help_text(verb).split("\n"):
            if len(line) > 80:
                yield "%s: a line of its help is too long: %s" % (verb.name,
                                                                  line)
    if len(list(verbs.overview(book))) > 24:
        yield "openpai help is more than a screen"


def written(folder):
    for command, name in READERS:
        if shutil.which(command.split()[0]) is None:
            continue
        done = subprocess.run([*command.split(), folder / name], text=True,
                              capture_output=True, check=False, timeout=60)
        if done.returncode != 0 or done.stderr:
            yield "%s: %s%s" % (name, done.stdout, done.stderr)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    COMPLAINTS = list(check(*read(source.root_from_argv())))
    if len(sys.argv) > 2:
        COMPLAINTS += written(pathlib.Path(sys.argv[2]))
    source.verdict(COMPLAINTS)
