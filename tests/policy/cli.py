"""Fails unless help, man page and completions tell of the same verbs and
options.

Usage: cli.py ROOT PROGRAM.  The program decides: `openpai help` has a line
"  verb ...   what it does" for each verb, and `openpai help VERB` a line
"  --option ..." for each option of it.  Every verb has --help: not listed.
A verb may be two words, of which the first names a group: "spec check".
"""
import pathlib
import re
import subprocess
import sys

import source


def ask(program, *args):
    done = subprocess.run([program, *args], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False, timeout=30)
    return done.stdout


def from_help(program):
    verbs = re.findall(
        r"^  ([a-z][a-z-]*(?: [a-z-]+)?)(?= ).*?(?: {2,}|\n {10,})\S",
        ask(program, "help"), re.M)
    return {verb: set(re.findall(r"^ +(?:-\w, )?--([a-z][a-z-]*)",
                                 ask(program, "help", *verb.split()), re.M))
            for verb in verbs}


def from_man(text):
    section = re.search(r'^\.SH "?VERBS"?\n(.*?)(?=^\.SH)', text, re.M | re.S)
    parts = re.split(r'^\.SS "?([a-z-]+(?: [a-z-]+)?).*\n',
                     section.group(1) if section else "", flags=re.M)
    return {verb: {name.replace("\\", "") for name in re.findall(
                       r"^\.TP\n.*?\\-\\-([a-z][a-z\\-]*)", body, re.M)}
            for verb, body in zip(parts[1::2], parts[2::2])}


def grouped(lists):
    """The verbs of {"verbs": [...], "spec_verbs": [...]}."""
    groups = {name[:-len("_verbs")]: verbs for name, verbs in lists.items()
              if name != "verbs"}
    yield from (verb for verb in lists["verbs"] if verb not in groups)
    for group, verbs in groups.items():
        yield from ("%s %s" % (group, verb) for verb in verbs)


def from_bash(text):
    lists = re.findall(r"\b((?:[a-z]+_)?verbs)='([^']*)'", text)
    options = dict(re.findall(r"^ +'?([a-z -]+?)'?\) options='([^']*)'", text,
                              re.M))
    return {verb: set(re.findall(r"--([a-z-]+)", options.get(verb, "")))
            for verb in grouped({k: v.split() for k, v in lists})}


def from_zsh(text):
    lists = re.findall(r"^((?:[a-z]+_)?verbs)=\(\n(.*?)^\)", text,
                       re.M | re.S)
    arms = dict(re.findall(r"^  '?([a-z -]+?)'?\)\n(.*?);;", text,
                           re.M | re.S))
    return {verb: set(re.findall(r"--([a-z-]+)(?:}')?\[", arms.get(verb, "")))
            for verb in grouped({k: re.findall(r"^  '([a-z-]+):", v, re.M)
                                 for k, v in lists})}


def from_fish(text):
    seen = r"__fish_seen_subcommand_from ([a-z-]+)"
    lists = {"verbs": re.findall(
        r"-n __fish_use_subcommand -f -a ([a-z-]+)", text)}
    for group, verb in re.findall(
            r"-n '%s; and not [^']*' -f -a ([a-z-]+)" % seen, text):
        lists.setdefault(group + "_verbs", []).append(verb)
    options = re.findall(r"-n '%s(?:; and %s)?'.* -l ([a-z-]+)" % (seen, seen),
                         text)
    return {verb: {name for *of, name in options
                   if " ".join(of).strip() == verb}
            for verb in grouped(lists)}


def differences(where, want, have):
    """What `where` has too little or too much, as (verb, options)."""
    for verb in sorted(want.keys() - have.keys()):
        yield "%s: no verb '%s'" % (where, verb)
    for verb in sorted(have.keys() - want.keys()):
        yield "%s: the program has no verb '%s'" % (where, verb)
    for verb in sorted(want.keys() & have.keys()):
        for option in sorted((want[verb] - have[verb]) - {"help"}):
            yield "%s: %s: no option --%s" % (where, verb, option)
        for option in sorted((have[verb] - want[verb]) - {"help"}):
            yield "%s: %s: the program has no option --%s" % (where, verb,
                                                              option)


def check(root, program):
    want = from_help(program)
    if not want:
        return ["%s help: lists no verbs" % program]
    complaints = []
    for where, read in (("docs/openpai.1", from_man),
                        ("pkgconfig/completions/openpai.bash", from_bash),
                        ("pkgconfig/completions/_openpai", from_zsh),
                        ("pkgconfig/completions/openpai.fish", from_fish)):
        complaints += differences(where, want,
                                  read((root / where).read_text()))
    return complaints


if __name__ == "__main__":
    if len(sys.argv) < 3 or not pathlib.Path(sys.argv[2]).is_file():
        source.skip("the program openpai is not built")
    source.verdict(check(source.root_from_argv(), sys.argv[2]))
