"""What the Python module promises of the options of jobs: what is wrong is told
before there is a job, in words.

Usage: test_python_options.py ROOT [unittest's arguments]
"""
import pathlib
import unittest
from decimal import Decimal

import openpai
from python_jobs import ROOT, job, new_root, without_cloudpickle
from python_serve import platform

#: Of submit() and options(), with the kind of error and a part of it.
BOTH = (
    ("after", [3], TypeError, "a job or its name.*3"),
    ("after", 3, TypeError, "a job or its name.*3"),
    ("after", None, TypeError, "a job or its name"),
    ("after", "", ValueError, "a job or its name"),
    ("after", "\ud800", ValueError, "a job or its name"),
    ("tags", [1], TypeError, "a tag is a text, not 1"),
    ("tags", 3, TypeError, "a text, or a list of them, not 3"),
    ("tags", "x" * 600, ValueError, "1 to 512 bytes"),
    ("tags", ["good", "\u20ac" * 200], ValueError, "1 to 512 bytes"),
    ("tags", "a\0b", ValueError, "no NUL"),
    ("tags", "a,b", ValueError, "no comma"),
    ("tags", "", ValueError, "1 to 512 bytes"),
    ("tags", "\ud800", ValueError, "1 to 512 bytes"),
    ("time", "", ValueError, "time is a text"),
    ("time", 0, TypeError, "time is a text.*not 0"),
    ("time", "soon", ValueError, "timeLimit"),
    ("priority", "", ValueError, "prod"),
    ("priority", "high", ValueError, "prod"),
    ("virtual_cluster", "", ValueError, "virtual_cluster is a text"),
    ("virtual_cluster", 3, TypeError, "virtual_cluster is a text"))

#: Of options() alone.
OWN = (
    ("memory", 16, TypeError, '"512M".*not 16'),
    ("memory", "", ValueError, '"512M"'),
    ("memory", "16", ValueError, '"512M"'),
    ("cpu", "half", TypeError, "cpu is a number of CPUs, as 2 or 0.5"),
    ("cpu", None, TypeError, "cpu is a number of CPUs"),
    ("cpu", float("nan"), TypeError, "cpu is a number of CPUs"),
    ("cpu", 1.2345, ValueError, "1.2345: at most three digits"),
    ("cpu", 0, ValueError, "cpu is above 0"),
    ("gpu", "1", TypeError, "gpu is a whole number"),
    ("gpu", -1, ValueError, "gpu is 0 or more"),
    ("name", 5, TypeError, "name is a text"))

#: Of options() of clients.
CLIENTS = (
    ("image", 5, TypeError, "image is a text"),
    ("image", "", ValueError, "image is a text"),
    ("python", 5, TypeError, "python is a path"),
    ("code", 5, TypeError, "code is a path"),
    ("code", "", ValueError, "code is a path"))


class Options(unittest.TestCase):
    def setUp(self):
        without_cloudpickle(self)

    def wrong(self, ask, wanted):
        for name, value, kind, part in wanted:
            with self.subTest("%s=%.20r" % (name, value)):
                with self.assertRaisesRegex(kind, part):
                    ask(**{name: value})

    def test_of_platform(self):
        with openpai.Platform(root=new_root()) as platform:
            self.wrong(lambda **more: platform.submit(job("true"), **more),
                       BOTH)
            self.wrong(lambda **more: platform.options(**more).call(len, ""),
                       BOTH + OWN)
            for limit in "3", 1.5:
                with self.assertRaisesRegex(TypeError, "whole number"):
                    platform.map(len, [""], limit=limit)
            self.assertEqual(len(platform.jobs()), 0)
            for cpu in 0.5, "0.5", Decimal("0.500"), 0.1 + 0.4:
                call = platform.options(cpu=cpu, memory="64M").call(len, "")
                self.assertEqual(call.result(), 0)
                role, = openpai.Job.parse(call.config()).roles
                self.assertEqual(role.cpus, 0.5)
            call = platform.options(name="x" * 300, tags="\u20ac" * 170,
                                    memory="128M").call(len, "")
            self.assertEqual(call.result(), 0)
            name = call.name.partition("~")[2]
            self.assertEqual((len(name), name[:171]), (180, "x" * 171))

    def test_of_client(self):
        with platform(ROOT / "up") as root:
            with openpai.BlockingClient(root=root) as client:
                self.wrong(lambda **more: client.submit(job("true"), **more),
                           BOTH)
                self.wrong(lambda **more: client.options(**more).call(len, ""),
                           BOTH + OWN + CLIENTS)
                self.assertEqual(len(client.jobs().all()), 0)
                call = client.options(
                    name="x" * 300, python=pathlib.Path("python3")).call(
                        len, "ab")
                self.assertEqual(call.result(), 2)
