"""Reads public headers: functions with their @since, structs, constants.

This is no C parser: it knows the one layout that the headers keep to, and
raises ValueError on a declaration it cannot read rather than pass over it.
"""
import re


def without_comments(text):
    return re.sub(r"/\*.*?\*/", " ", text, flags=re.S)


def without_macros(text):
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)


def functions(text):
    """{name of each PAI_API declaration: its @since, or None}"""
    found = {}
    for m in re.finditer(r"(/\*(?:(?!\*/).)*\*/)?\s*\bPAI_API\b([^;]*);",
                         without_macros(text), re.S):
        comment, declaration = m.group(1) or "", without_comments(m.group(2))
        name = re.search(r"\b(pai_\w+)\s*\(", declaration)
        if not name:
            raise ValueError("cannot read: PAI_API" + declaration)
        since = re.search(r"@since\s+(\d+\.\d+)", comment)
        found[name.group(1)] = since.group(1) if since else None
    return found


def split(text, separator):
    """Splits at separators outside all brackets; drops empty parts."""
    parts, depth, start = [], 0, 0
    for at, c in enumerate(text + separator):
        depth += (c in "({[") - (c in ")}]")
        if c == separator and depth == 0:
            parts.append(" ".join(text[start:at].split()))
            start = at + 1
    return [part for part in parts if part]


def member_names(declaration):
    """`int *a, b[2]` -> a, b;  `int (*f)(int x)` -> f"""
    for declarator in split(declaration, ","):
        name = (re.search(r"\(\s*\*\s*(\w+)\s*\)\s*\(", declarator) or
                re.search(r"(\w+)\s*(?:\[[^]]*\]\s*)*$", declarator))
        if not name or "{" in declarator or ":" in declarator:
            raise ValueError("cannot read member: " + declaration)
        yield name.group(1)


def structs(text):
    """{name: its members, in order}"""
    code = without_macros(without_comments(text))
    code = re.sub(r"^static inline\b.*?^\}$", "", code, flags=re.M | re.S)
    found = {}
    for m in re.finditer(r"\btypedef\s+(?:struct|union)\s+\w*\s*\{(.*?)\}\s*"
                         r"(pai_\w+)\s*;", code, re.S):
        found[m.group(2)] = [name for declaration in split(m.group(1), ";")
                             for name in member_names(declaration)]
    # One that its own members name; its typedef stands before it.
    for m in re.finditer(r"(?<!typedef )\bstruct\s+(pai_\w+)\s*\{(.*?)\}\s*;",
                         code, re.S):
        if not re.search(r"\btypedef struct %s %s;" % (m.group(1), m.group(1)),
                         code[:m.start()]):
            continue
        found[m.group(1)] = [name for declaration in split(m.group(2), ";")
                             for name in member_names(declaration)]
    if code.count("{") != len(found) + len(re.findall(r"\benum\b[^;]*\{",
                                                      code)):
        raise ValueError("an open brace that is neither an enum's nor that "
                         "of typedef struct pai_x { } pai_x")
    return found


def constants(text):
    """Names of all enum constants and of macros that are one number."""
    code = without_comments(text)
    names = re.findall(r"^#define[ \t]+(PAI_(?!VERSION_)\w+)[ \t]+\(?-?\d\w*\)?"
                       r"[ \t]*$", code, re.M)
    for m in re.finditer(r"\benum\b[^{;]*\{(.*?)\}", without_macros(code),
                         re.S):
        for constant in split(m.group(1), ","):
            names.append(re.match(r"\w+", constant).group())
    return names
