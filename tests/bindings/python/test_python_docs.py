"""That help() says something of all that is public.

Usage: test_python_docs.py ROOT [unittest's arguments]
"""
import dataclasses
import inspect
import pydoc
import types
import unittest

import openpai
import python_jobs  # runs the tests

#: What Python itself documents.
_OF_PYTHON = (Exception, tuple, str, bytes, object)


def members(cls):
    """Names and values of public members that are defined by the package."""
    fields = set(getattr(cls, "_fields", ()))
    if dataclasses.is_dataclass(cls):
        fields |= {field.name for field in dataclasses.fields(cls)}
    for base in cls.__mro__:
        if not base.__module__.startswith("openpai"):
            continue
        for name, value in vars(base).items():
            if not name.startswith("_") and name not in fields and isinstance(
                    value, (types.FunctionType, property, classmethod,
                            staticmethod)):
                yield name, value


def undocumented(name, value):
    if not isinstance(value, type):
        if callable(value) and not inspect.getdoc(value):
            yield name
        return
    own = value.__dict__.get("__doc__")
    if not own or own.startswith(value.__name__ + "("):  # of a dataclass
        yield name
    for member, its in members(value):
        if not inspect.getdoc(getattr(value, member)) and not (
                getattr(its, "__doc__", None)):
            yield "%s.%s" % (name, member)


class Docs(unittest.TestCase):
    def test_all_is_documented(self):
        missing = sorted({name for public in openpai.__all__
                          for name in undocumented(
                              public, getattr(openpai, public))})
        self.assertEqual(missing, [], "\n".join(missing))
        self.assertTrue(openpai.__doc__)

    def test_help(self):
        """With signatures, also of what a client and a platform share."""
        for value, parts in (
                (openpai.Platform.call, ("call(self, function", "gpu: int = 0",
                                         "Runs a function in a job")),
                (openpai.BlockingClient, ("submit(self, job", "Submits a job",
                                          "call(self", "executor(self")),
                (openpai.Cluster, ("set_sick(self, node", "copy(self)")),
                (openpai.JobFailed, ("has no result",))):
            text = pydoc.plain(pydoc.render_doc(value))
            for part in parts:
                self.assertIn(part, text)

    def test_public_names(self):
        """What a public function returns or takes is public, too."""
        for name in openpai.__all__:
            self.assertTrue(hasattr(openpai, name), name)
        self.assertEqual(len(set(openpai.__all__)), len(openpai.__all__))
