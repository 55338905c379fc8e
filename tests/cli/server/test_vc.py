"""Virtual clusters and nodes of a platform, through their verbs."""

import json

import program


class Vc(program.RootTest):
    def setUp(self):
        super().setUp()
        self.ok("up")

    def job_in(self, vc, command="echo up; sleep 100", name="test"):
        text = program.JOB.format(command=json.dumps(command), instances=1,
                                  cpu=1).replace("name: test", f"name: {name}")
        return self.write(f"{name}.yaml",
                          text + f"defaults: {{virtualCluster: {vc}}}\n")

    def vcs(self):
        return json.loads(self.ok("vc", "list", "--json"))

    def node(self):
        return json.loads(self.ok("node", "list", "--json"))[0]

    def one_cpu(self):
        """A part that comes to one CPU."""
        cpus = self.node()["cpus"]
        return f"{-(-10000 // cpus) / 100}%" if cpus > 1 else "100%"

    def test_they_are_made_changed_and_removed(self):
        self.assertEqual(list(self.vcs()), ["default"])
        self.ok("vc", "add", "research", "--capacity", "25%")
        self.ok("vc", "add", "teaching", "-c", "12.5", "-m", "50",
                "--description", 'for "all"')
        vcs = self.vcs()
        self.assertEqual({name: vc["capacity"] for name, vc in vcs.items()},
                         {"default": 62.5, "research": 25, "teaching": 12.5})
        self.assertEqual(vcs["teaching"]["maxCapacity"], 50)
        self.assertEqual(vcs["teaching"]["description"], 'for "all"')
        self.ok("vc", "set", "teaching", "-c", "33.33")
        one = json.loads(self.ok("vc", "show", "teaching", "--json"))
        self.assertEqual((one["capacity"], one["maxCapacity"],
                          one["description"]), (33.33, 50, 'for "all"'))
        self.ok("vc", "set", "teaching", "-c", "60")
        one = json.loads(self.ok("vc", "show", "teaching", "--json"))
        self.assertEqual((one["capacity"], one["maxCapacity"]), (60, 60))
        self.ok("vc", "remove", "research", "teaching")
        self.assertEqual(list(self.vcs()), ["default"])

    def test_what_cannot_be(self):
        self.ok("vc", "add", "research", "-c", "80")
        self.refused(1, "there is a virtual cluster research already",
                     "vc", "add", "research", "-c", "1")
        self.refused(1, "leave 20%", "vc", "add", "more", "-c", "20.01")
        self.refused(1, "default", "vc", "remove", "default")
        self.refused(1, "none is not found", "vc", "show", "none")
        self.refused(1, "none is not found", "vc", "set", "none", "-c", "1")
        self.refused(1, "pattern", "vc", "add", "no/name", "-c", "1")
        for part in ("120", "1.234", "-5", "x", "5%%", ".5", "5.", ""):
            self.refused(2, "not a share of the machine", "vc", "set", "research",
                         f"--capacity={part}")
        self.refused(2, "option is missing: --capacity", "vc", "add", "x")
        self.refused(2, "no change is given", "vc", "set", "research")
        self.refused(2, "which virtual cluster", "vc", "add", "-c", "5")
        self.refused(2, "which virtual cluster", "vc", "stop")
        self.refused(2, "one virtual cluster", "vc", "set", "a", "b", "-c", "5")
        self.refused(2, "no argument", "vc", "list", "x")
        self.refused(2, "which node", "node", "show")
        self.refused(1, "there is no node 'moon'", "node", "drain", "moon")

    def test_jobs_are_held_to_them(self):
        self.assertIn("there is default",
                      self.refused(1, "there is no virtual cluster 'research'", "submit",
                                   self.job_in("research")))
        self.ok("vc", "add", "research", "--capacity", self.one_cpu())
        self.ok("submit", self.job_in("research"))
        self.until_up()
        self.ok("submit", self.job_in("research", name="second"))
        why = json.loads(self.ok("why", "--json", "second"))
        self.assertEqual(why["reasons"][0]["code"], "quota")
        self.assertIn("research has 0 left", why["reasons"][0]["text"])
        table = self.ok("vc", "list").splitlines()
        self.assertEqual(table[0].split(), ["NAME", "STATE", "PART", "MAX",
                                            "GPUS", "CPUS", "WAIT", "RUN"])
        row = next(line for line in table if line.startswith("research"))
        self.assertEqual(row.split()[-3:], ["1/1", "1", "1"])
        self.assertIn("test", self.refused(1, "jobs belong to", "vc",
                                           "remove", "research"))
        self.ok("vc", "stop", "research")
        why = json.loads(self.ok("why", "--json", "second"))
        self.assertEqual(why["reasons"][0]["code"], "stopped")
        self.ok("stop", "--now", "test")
        self.ok("vc", "start", "research")
        self.ok("stop", "second")
        self.run_cli("wait", "second")
        self.run_cli("wait", "test")
        self.ok("vc", "remove", "research")

    def test_bars_on_a_terminal(self):
        self.ok("vc", "add", "research", "-c", "50")
        seen = self.on_terminal("vc", "list")
        self.assertIn("..........", seen)
        self.assertIn("..........", self.on_terminal("node", "list"))
        self.assertNotIn("....", self.ok("vc", "list"))

    def test_a_node_is_drained(self):
        name = self.node()["name"]
        self.ok("node", "drain", name, "--reason", "a new fan")
        self.assertEqual(self.node()["state"], "drained")
        self.assertIn("drained: a new fan", self.ok("node", "show", name))
        self.ok("submit", self.job("true"))
        why = json.loads(self.ok("why", "--json", "test"))
        self.assertIn("drained: a new fan", why["reasons"][0]["text"])
        self.ok("node", "resume", name)
        self.ok("wait", "test")
        self.assertEqual(self.node()["state"], "up")
