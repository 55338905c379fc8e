"""interface_js.py - the functions that a WebAssembly module exports, and the table
by which bindings/js/openpai/core.js calls them; used by interface.py

A call that names a file or an object of another language has no function here.
"""
import sys

#: How C takes a parameter: pairs of declarations and what they are passed as.
#: The letter is core.js's.
BORROWED = {
    "const char *": ("s", ["const char *{0}"], "{0}"),
    "bytes": ("b", ["const char *{0}", "size_t {0}_len"], "{0}, {0}_len"),
    "words": ("w", ["const char *{0}", "size_t {0}_len"],
              "(words){{ {0}, {0}_len }}"),
    "draft_value": ("d", ["const char *{0}", "size_t {0}_len", "bool {0}_text"],
                    "(draft_value){{ {0}, {0}_len, {0}_text }}"),
    "node_ref": ("n", ["const char *{0}", "size_t {0}_number"],
                 "(node_ref){{ {0}, {0}_number }}"),
    "policy_ref": ("p", ["const char *{0}", "int {0}_object", "bool {0}_lends",
                         "bool {0}_hears"],
                   "(policy_ref){{ {0}, js_object({0}_object), {0}_lends, "
                   "{0}_hears }}"),
    "log_ref": ("o", ["int {0}_object"], "(log_ref){{ js_object({0}_object) }}"),
    "bool": ("t", ["bool {0}"], "{0}"),
    **dict.fromkeys(("int64_t", "uint64_t"), ("l", ["{1} {0}"], "{0}")),
    **dict.fromkeys(("int", "uint32_t", "size_t", "long"),
                    ("i", ["{1} {0}"], "{0}")),
}
#: What a result is for core.js, and how C hands it over; the rest is returned.
RESULTS = {
    "listing": ("j", "js_give({0}.json)"), "findings": ("j", "js_give({0}.json)"),
    "job_text": ("x", "js_give({0})"), "job_strings": ("j", "js_give_strings({0}, &f)"),
    "void": ("v", None), "const char *": ("s", None), "bool": ("t", None),
    "int64_t": ("l", None), "uint64_t": ("l", None),
    "int": ("i", None), **dict.fromkeys(("uint32_t", "size_t"), ("u", None)),
}
#: Names of parameters that stand for files, whatever their types.
FILES = {"path", "root", "nvml"}
#: What the modules would be too large with.
LEFT_OUT = {"Replay_story"}


def parameters(method, classes):
    """(letter, declarations, passed) of each parameter; None: there is no such
    call here."""
    out = []
    for kind, name in method.parameters:
        if kind.endswith(" *") and kind[:-2] in classes:
            out.append(("h", [kind + name], name))
        elif kind in BORROWED and name not in FILES:
            letter, declared, passed = BORROWED[kind]
            out.append((letter, [one.format(name, kind) for one in declared],
                        passed.format(name)))
        else:
            return None
    return out


def result(method, classes):
    """(letter, C that hands it over) of the result, or None."""
    if method.result in RESULTS:
        return RESULTS[method.result]
    if method.result.endswith(" *") and method.result[:-2] in classes:
        letter = "c" if "borrowed" not in method.switches else "r"
        return letter + method.result[:-2], None
    return None


def spaced(kind):
    return kind if kind.endswith("*") else kind + " "


def inner(name, method, own, statements):
    """A function with the statements of the interface."""
    declared = [spaced(kind) + it if not kind.endswith((" ", "*")) else kind + it
                for kind, it in method.declared()]
    return "static %sdo_%s(%s)\n{\n  %s\n}\n" % (
        spaced(method.result), name, ", ".join(own + declared) or "void",
        statements(method).replace("$self", "self"))


def outer(name, method, own, taken, give):
    """The exported function."""
    arguments = ["self"] * bool(own) + [passed for _, _, passed in taken]
    if "sure" not in method.switches:
        arguments.append("&f")
    call = "do_%s(%s)" % (name, ", ".join(arguments))
    declared = own + [one for _, some, _ in taken for one in some]
    lines = ["failure f = { 0 };"]
    if method.result == "void" or give is not None:
        kind, after = "void", ""
        lines.append((give.format(call) if give else call) + ";")
    else:
        kind, after = method.result, "\n  return made;"
        lines.append("%smade = %s;" % (spaced(kind), call))
    return "JS_EXPORT(%s) %s%s(%s)\n{\n  %s\n  js_keep(&f);%s\n}\n" % (
        name, spaced(kind), "js_" + name, ", ".join(declared) or "void",
        "\n  ".join(lines), after)


def one(name, cls, method, classes, statements):
    """C, and the line of the table; None where it is no call of this module."""
    taken, given = parameters(method, classes), result(method, classes)
    if taken is None or given is None or name in LEFT_OUT:
        return None
    own = [] if method.static else ["%s *self" % cls.name]
    if own and "const" in method.switches:
        own = ["const " + own[0]]
    letters = "".join(letter for letter, _, _ in taken)
    return (inner(name, method, own, statements) +
            outer(name, method, own, taken, given[1]),
            '    %s: ["%s", "%s", %s],\n' % (
                method.name, letters, given[0], "false" if own else "true"))


def write(out, module, names, classes, functions, statements, note):
    wanted = [cls for cls in classes if cls.name in names]
    loose = [f for f in functions if f.name in names]
    if len(wanted) + len(loose) != len(names):
        sys.exit("interface.py: interface.txt lacks one of " + " ".join(names))
    known = {cls.name for cls in wanted}
    code = ["/* %s */\n#include \"exports.h\"\n" % note]
    table = ["// %s\nexport const calls = {\n" % note]
    for cls in wanted:
        table.append("  %s: {\n" % cls.name)
        code.append("\nJS_EXPORT(%s_free) void js_%s_free(%s *self)\n"
                    "{\n  %s(self);\n}\n" % (cls.name, cls.name, cls.name,
                                             cls.free[0]))
        for method in cls.methods:
            made = one("%s_%s" % (cls.name, method.name), cls, method, known,
                       statements)
            if made is not None:
                code.append("\n" + made[0])
                table.append(made[1])
        table.append("  },\n")
    table.append("  functions: {\n")
    for method in loose:
        made = one(method.name, None, method, known, statements)
        if made is None:
            sys.exit("interface.py: no module can export " + method.name)
        code.append("\n" + made[0])
        table.append(made[1])
    table.append("  },\n};\n")
    (out / (module + "_exports.c")).write_text("".join(code))
    (out / (module + "_calls.js")).write_text("".join(table))
