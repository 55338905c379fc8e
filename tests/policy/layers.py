"""Fails on an #include that house.txt does not allow.

Usage: layers.py [ROOT].  It reads the #include lines of src/, include/,
examples/ and bindings/, and the DEPENDS lines of src/CMakeLists.txt, which
may be narrower than house.txt, never wider.
"""
import pathlib
import re

import source

# All that a pure room may ask of libc: no time.h, signal.h, threads.h.
C_HEADERS = set("""assert.h ctype.h errno.h float.h inttypes.h limits.h math.h
stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h
stdnoreturn.h string.h""".split())

# Outside libraries, by the first part of the header's name.
OUTSIDE = re.compile(
    r"(curl|gnutls|hwloc|jansson|lauxlib|lua|lualib|microhttpd|nvml|pthread|Python|"
    r"sodium|sqlite3|uv|yaml|zlib)(\.h|/)")

# Their own sources cannot be plugged into a machine: only one file may.
ONE_FILE_ONLY = {"hwloc.h"}

# A simulation sees a scheduler as other programs do, and through these.
OF_SCHED = {"sched/inspect.h", "sched/log/event_form.h"}

# Built as an embedder's code is, without -I src: their own headers are beside.
PROGRAMS = {"cli", "helper", "task"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def read_house(path):
    """{room: (is pure, rooms, outside headers)}"""
    house = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            arrows, outside = line.split("|")
            room, kind, *rooms = arrows.split()
            house[room] = (kind == "pure", set(rooms), set(outside.split()))
    return house


def read_depends(cmake):
    """{room: rooms on its DEPENDS line}"""
    depends = {}
    text = re.sub(r"#.*", "", cmake.read_text()) if cmake.exists() else ""
    for room, body in re.findall(r"openpai_room\(\s*(\w+)(.*?)\)", text, re.S):
        line = re.search(r"\bDEPENDS((?:\s+[a-z]\w*)*)", body)
        depends[room] = set(line.group(1).split()) if line else set()
    return depends


def includes(path):
    """Yields (line, is <...>, name).  Comments go, the quoted name stays."""
    code = source.strip_noise(path.read_text(), keep_strings=True)
    for m in INCLUDE.finditer(code):
        yield code.count("\n", 0, m.start()) + 1, m.group(1) == "<", m.group(2)


def why_not_room(room, rooms, name):
    """Why `room` may not include "name", or None."""
    other = name.split("/")[0]
    if "/" not in name:
        return (None if room in PROGRAMS else
                "name the room: \"%s/%s\"" % (room, name))
    if other != room and other not in rooms:
        return "room %s may not see room %s" % (room, other)
    if room == "sim" and other == "sched" and name not in OF_SCHED:
        return "of sched, room sim may see %s" % " and ".join(sorted(OF_SCHED))
    return None


def why_not_outside(path, room, pure, allowed, name):
    """Why this file of `room` may not include <name>, or None."""
    window = re.match(r"(posix|linux)_", path.name)
    if name.startswith("openpai/"):
        if name == "openpai/uv.h" and "uv.h" not in allowed:
            return "room %s may not see libuv" % room
    elif name in allowed or name in C_HEADERS:
        pass
    elif OUTSIDE.match(name):
        if pure or not name.startswith("pthread"):
            return "room %s may not use <%s>" % (room, name)
    elif pure and not window:
        return ("room %s is pure: <%s> belongs in a file posix_*.c or "
                "linux_*.c" % (room, name))
    return None


def check_rooms(root, house, depends):
    users = {}
    for path in source.files(root, "src/*.[ch]"):
        where = path.relative_to(root)
        if len(where.parts) < 3:
            continue
        room = where.parts[1]
        if room not in house:
            yield "%s: no room '%s' in house.txt" % (where, room)
            continue
        pure, rooms, outside = house[room]
        rooms = depends.get(room, rooms) & rooms
        for line, angled, name in includes(path):
            why = (why_not_outside(path, room, pure, outside, name) if angled
                   else why_not_room(room, rooms, name))
            if why:
                yield "%s:%d: %s" % (where, line, why)
            if name in ONE_FILE_ONLY:
                users.setdefault(name, []).append(str(where))
    for name, paths in users.items():
        if len(paths) > 1:
            yield "<%s> is for one file, not for %s" % (name,
                                                        ", ".join(paths))


def check_depends(house, depends):
    for room, rooms in depends.items():
        if room not in house:
            yield "src/CMakeLists.txt: no room '%s' in house.txt" % room
        else:
            for other in sorted(rooms - house[room][1]):
                yield ("src/CMakeLists.txt: %s DEPENDS %s: not in house.txt"
                       % (room, other))


def check_outsiders(root, house):
    """Public headers, examples and bindings see <openpai/*.h> only."""
    for path in source.files(root, "include/openpai/*.h", "examples/*.[ch]",
                             "bindings/*.[chi]", "bindings/*.swg"):
        where = path.relative_to(root)
        for line, angled, name in includes(path):
            if not angled and name.split("/")[0] in house:
                yield "%s:%d: only <openpai/*.h>, not \"%s\"" % (where, line,
                                                                 name)
            if where.parts[0] == "include" and not (
                    name.startswith("openpai/") or name in C_HEADERS or
                    name == where.name and name in ("uv.h", "jansson.h")):
                yield "%s:%d: a public header may not need <%s>" % (
                    where, line, name)


def check(root):
    house = read_house(pathlib.Path(__file__).with_name("house.txt"))
    depends = read_depends(root / "src/CMakeLists.txt")
    return [*check_depends(house, depends),
            *check_rooms(root, house, depends), *check_outsiders(root, house)]


if __name__ == "__main__":
    source.verdict(check(source.root_from_argv()))
