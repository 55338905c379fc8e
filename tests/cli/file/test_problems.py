"""Whether the guide's page of problems has each code that is found in the
inputs of the fuzz tests."""

import json
import pathlib
import re
import sys

import program

PAGE, CORPUS = map(pathlib.Path, sys.argv[2:4])


class Problems(program.ProgramTest):
    def codes(self, group, folders):
        files = sorted(str(path) for folder in folders
                       for path in (CORPUS / folder).iterdir())
        self.assertTrue(files)
        done = self.run_cli(group, "check", "--json", *files)
        return {found["code"] for file in json.loads(done.stdout)
                for found in file["diagnostics"]}

    def test_each_code_has_its_part(self):
        parts = re.findall(r"^### (\S+)$", PAGE.read_text(), re.M)
        self.assertEqual(len(parts), len(set(parts)))
        found = (self.codes("spec", ["spec", "edit", "template"])
                 | self.codes("cluster", ["cluster", "hived"]))
        self.assertGreater(len(found), 30)
        self.assertEqual(sorted(found - set(parts)), [])
