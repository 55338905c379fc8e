"""What the policy checks share: the files, code without comments, a verdict."""
import fnmatch
import pathlib
import re
import subprocess
import sys

SKIP = 77  # ctest's SKIP_RETURN_CODE

# A comment, a string or a character.
NOISE = re.compile(
    r'/\*.*?(?:\*/|\Z)|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
    re.S)


def files(root, *patterns):
    """The tree's own files that match (`*` also matches a slash): what git
    would track, else all but build/."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z",
         "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listed.returncode == 0:
        found = [root / name for name in listed.stdout.decode().split("\0")]
    else:
        found = [path for path in root.rglob("*") if not
                 {".git", "build", "__pycache__"} &
                 set(path.relative_to(root).parts)]
    return sorted(path for path in found if path.is_file() and any(
        fnmatch.fnmatch(path.relative_to(root).as_posix(), pattern)
        for pattern in patterns))


def strip_noise(text, keep_strings=False):
    """Blanks comments, strings and characters; lines and columns stay."""
    def blank(match):
        if keep_strings and match.group()[0] in "\"'":
            return match.group()
        return re.sub(r"[^\n]", " ", match.group())
    return NOISE.sub(blank, text)


def functions(code):
    """Yields (name, is_static, first line, number of lines) of each function
    in `code`, which has no comments and the house's layout: a function, and
    nothing else, has its opening brace in column 0."""
    lines = code.split("\n")
    for at, line in enumerate(lines):
        if not line.startswith("{"):
            continue
        first = at
        while first > 0 and not re.search(r"[;}]\s*$|^#|^\s*$",
                                          lines[first - 1]):
            first -= 1
        head = " ".join(lines[first:at])
        name = re.search(r"(\w+)\s*\(", head)
        end = next((i for i in range(at, len(lines))
                    if lines[i].startswith("}")), len(lines) - 1)
        if name:
            yield (name.group(1), bool(re.search(r"\bstatic\b", head)),
                   first + 1, end - first + 1)


def root_from_argv():
    return pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()


def verdict(complaints):
    """Ends the check: each complaint on its line, exit 1 if there is one."""
    complaints = list(complaints)
    print("\n".join(complaints))
    sys.exit(1 if complaints else 0)


def skip(reason):
    print("skipped: " + reason)
    sys.exit(SKIP)
