"""openpai cluster show, check and hived: argv[2] is a library that plays
NVML."""

import json
import os
import pathlib
import re
import sys
import xml.etree.ElementTree

import program

FAKE = os.path.abspath(sys.argv[2])

GOOD = """\
skus:
  dgx: {gpu: h100, gpus: 8, numa: 2, cpus: 96, memory: 1T,
        used: {cpus: 4, memory: 64G}}
nodes:
  - {name: "n[1-2]", sku: dgx, rack: r1}
  - {name: n3, sku: dgx, rack: r2, sick: on fire}
"""
WARNED = GOOD.replace(""",
        used: {cpus: 4, memory: 64G}""", "")
BAD = GOOD.replace("n3, sku: dgx", "n3, sku: dgz")
BAD_TEXT = """\
bad.yaml:6:21: error: there is no SKU 'dgz' [unknown-sku]
    6 |   - {name: n3, sku: dgz, rack: r2, sick: on fire}
      |                     ^~~
  help: did you mean 'dgx'?
"""
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "k1", "labels": {
    "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}},
        "status": {"capacity": {"cpu": "64", "memory": "512Gi",
                                "nvidia.com/gpu": "8"},
                   "allocatable": {"cpu": "62", "memory": "500Gi",
                                   "nvidia.com/gpu": "7"}}}
KUBERNETES = json.dumps({"apiVersion": "v1", "kind": "List", "items": [NODE]})
SLURM = json.dumps({"meta": {"slurm": {"version": {"major": "23"}}},
                    "nodes": [{"name": "s1", "cpus": 8, "real_memory": 1024,
                               "state": ["IDLE"], "gres": "gpu:a100:4"}]})
LAYOUT = """\
machine-sku:
  big: {mem: 60Gi, cpu: {vcore: 24},
        computing-device: {type: nvidia.com/gpu, model: K80, count: 4}}
  small: {mem: 60Gi, cpu: {vcore: 24}}
machine-list:
  - {hostname: m, hostip: 10.0.0.1, machine-type: small, pai-master: "true"}
  - {hostname: w, hostip: 10.0.0.2, machine-type: big, pai-worker: "true"}
"""
HIVED = """\
physicalCluster:
  cellTypes:
    N: {childCellType: G, childCellNumber: 8, isNodeLevel: true}
  physicalCells: [{cellType: N, cellAddress: h1}]
virtualClusters:
  a: {virtualCells: [{cellType: N, cellNumber: 1}]}
"""
RESERVE = """\
openpai: warning: %s nothing for the system's own programs
  help: jobs with all GPUs of a node may then not fit; convert the file with \
`openpai cluster show --yaml`, add used: {cpus: 2, memory: 8G} to each SKU, \
and use the result
"""
CPUS = ('cpuset="0x3" complete_cpuset="0x3" nodeset="0x1" '
        'complete_nodeset="0x1"')


def machine(name="", gpus=2):
    """hwloc's XML of a machine with GPUs at 10:00.0, 11:00.0, ..."""
    info = f'<info name="HostName" value="{name}"/>' if name else ""
    devices = "".join(
        f'<object type="PCIDev" gp_index="{40 + i}" pci_busid="0000:{16 + i:x}'
        ':00.0" pci_type="0302 [10de:2330] [10de:0000] 00" '
        f'pci_link_speed="31.5"><object type="OSDev" gp_index="{60 + i}" '
        f'name="nvml{i}" osdev_type="5"><info name="Backend" value="NVML"/>'
        '<info name="GPUVendor" value="NVIDIA Corporation"/>'
        '<info name="GPUModel" value="A100"/>'
        f'<info name="NVIDIAUUID" value="GPU-{name}-{i}"/></object></object>'
        for i in range(gpus))
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" allowed_cpuset="0x3"
    allowed_nodeset="0x1" gp_index="1" {CPUS}>{info}
    <object type="NUMANode" os_index="0" {CPUS} gp_index="2"
      local_memory="1073741824"/>
    <object type="PU" os_index="0" gp_index="3"
      {CPUS.replace('"0x3"', '"0x1"')}/>
    <object type="PU" os_index="1" gp_index="4"
      {CPUS.replace('"0x3"', '"0x2"')}/>
    <object type="Bridge" gp_index="5" bridge_type="0-1" depth="0"
      bridge_pci="0000:[10-2f]">{devices}</object>
  </object>
</topology>
"""


class ClusterTest(program.ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("good.yaml", GOOD)
        self.write("warned.yaml", WARNED)
        self.write("bad.yaml", BAD)
        self.write("dgx.xml", machine("dgx"))
        self.write("one.xml", machine())

    def cluster(self, *args, **kwargs):
        return self.run_cli("cluster", *args, cwd=self.folder, **kwargs)

    def answer(self, *args, err="", **kwargs):
        """What is printed by a call that is right."""
        done = self.cluster(*args, **kwargs)
        self.assertEqual((done.returncode, done.stderr), (0, err), args)
        return done.stdout

    def refuse(self, code, *args, **kwargs):
        """What is said of a call that is wrong."""
        done = self.cluster(*args, **kwargs)
        self.assertEqual((done.returncode, done.stdout), (code, ""), args)
        return done.stderr

    def this_machine_is(self, text, nvml="0"):
        """hwloc finds what is in the text, NVML is the fake one."""
        folder = self.folder / "lib"
        folder.mkdir(exist_ok=True)
        if not (folder / "libnvidia-ml.so.1").exists():
            (folder / "libnvidia-ml.so.1").symlink_to(FAKE)
        self.env["LD_LIBRARY_PATH"] = str(folder)
        self.env["FAKE_NVML"] = nvml
        self.env["HWLOC_XMLFILE"] = self.write("this.xml", text)
        self.env["HWLOC_COMPONENTS"] = "xml,stop"


class Show(ClusterTest):
    def test_this_machine(self):
        # Without PCI: libpciaccess leaves memory behind, which ASan tells.
        self.env["HWLOC_COMPONENTS"] = "-pci"
        self.assertRegex(self.answer("show"), r" threads?, ")
        shown = json.loads(self.answer("show", "--json"))
        self.assertIn("machine", json.dumps(shown).lower())
        self.this_machine_is(machine("host"))
        self.assertIn("host: ", self.answer("show"))
        self.assertNotIn("[", self.answer("show"))

    def test_sick_gpus_of_this_machine(self):
        for nvml, why in (("2 broken", "2 double-bit memory errors"),
                          ("2 unreachable", "cannot be reached")):
            self.this_machine_is(machine("host"), nvml)
            shown = self.answer("show")
            self.assertRegex(
                shown, rf"GPU 1: A100, 0000:11:00.0  \[sick: .*{why}.*\]")
            self.assertNotRegex(shown, r"GPU 0.*\[")
            self.assertIn(why[:10], self.answer("show", "--svg", "-"))
            self.assertRegex(self.answer("show", "--yaml"),
                             rf"'1':\n *uuid: GPU-host-1\n *sick: .*{why}")

    def test_a_sick_gpu_that_is_nowhere(self):
        for nvml, name in (("2 unreachable", "GPU 1"),
                           ("2 broken", "GPU 1, 0000:11:00.0")):
            self.this_machine_is(machine("host", gpus=1), nvml)
            done = self.cluster("show")
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stderr, f"^openpai: warning: {name} is broken,"
                             " and not visible: .+\n$")

    def test_gpus_that_only_the_driver_knows(self):
        self.this_machine_is(machine("host", gpus=1), "3")
        self.answer("show", err="note: the driver knows 2 GPUs more: the "
                    "system does not show where they are\n")
        self.this_machine_is(machine("host", gpus=3), "3")
        self.answer("show")

    def test_why_gpus_cannot_be_asked(self):
        self.this_machine_is(machine("host"), "mismatch")
        done = self.cluster("show")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^note: .+\n$")

    def test_forms(self):
        """Each is told by its content, and becomes our own."""
        for name, text in (("kubernetes", KUBERNETES), ("slurm", SLURM),
                           ("layout", LAYOUT), ("hived", HIVED),
                           ("openpai", GOOD)):
            path = self.write("file", text)
            shown = self.answer("show", "--from", path)
            self.assertRegex(shown, r"\d nodes?, \d+ GPUs")
            self.assertEqual(self.answer("show", "--as", name, path), shown)
            ours = self.answer("show", "--from", "-", "--yaml", input=text)
            self.write("ours.yaml", ours)
            self.assertEqual(self.answer("show", "--yaml", "ours.yaml"), ours)
            self.write("ours.json",
                       self.answer("show", "--json", "ours.yaml"))
            json.loads((self.folder / "ours.json").read_text())
            self.assertEqual(self.answer("show", "--yaml", "ours.json"), ours)
            self.answer("check", "--as", "openpai", "ours.yaml")

    def test_sickness_of_a_cluster(self):
        shown = self.answer("show", "good.yaml")
        self.assertRegex(shown, r"n3 .*on fire")
        self.assertNotIn("\033", shown)
        self.assertIn("sick: on fire", self.answer("show", "--yaml",
                                                   "good.yaml"))

    def test_colour_on_a_terminal(self):
        self.env.pop("NO_COLOR", None)
        self.env["TERM"] = "xterm"
        path = str(self.folder / "good.yaml")
        self.assertIn("\033[", self.on_terminal("cluster", "show", path))
        self.env["NO_COLOR"] = "1"
        self.assertNotIn("\033", self.on_terminal("cluster", "show", path))

    def test_machines(self):
        shown = self.answer("show", "--from", "dgx.xml")
        self.assertIn("GPU 1: A100, 0000:11:00.0", shown)
        self.assertEqual(self.answer("show", "-", input=machine("dgx")), shown)
        self.assertIn("2 packages", self.answer(
            "show", "--from", "hwloc:pack:2 core:4 pu:2"))
        drawn = json.loads(self.answer("show", "--json", "dgx.xml"))
        self.assertIn("GPU-dgx-0", json.dumps(drawn))
        both = self.answer("show", "--from", "dgx.xml", "--from=one.xml",
                           "--yaml")
        self.assertEqual(re.findall(r"name: (\S+)", both), ["dgx", "one"])
        self.assertEqual(self.answer("show", "--yaml", "--from", "dgx.xml",
                                     "one.xml"), both)

    def test_names_of_machines(self):
        def names(*args, **kwargs):
            return re.findall(r"- ?name: (\S+)", self.answer(
                "show", "--yaml", *args, **kwargs))

        (self.folder / "racks").mkdir()
        self.write("racks/b.old.xml", machine("dgx"))
        self.write("noend", machine())
        self.assertEqual(names("dgx.xml"), ["dgx"])
        self.assertEqual(names("one.xml"), ["one"])
        self.assertEqual(names("--name", "x9", "dgx.xml"), ["x9"])
        # Two with one name are called as their files.
        self.assertEqual(names("dgx.xml", "racks/b.old.xml", "noend"),
                         ["dgx", "b.old", "noend"])
        self.assertEqual(names("one.xml", "-", "hwloc:core:2 pu:1",
                               input=machine()),
                         ["one", "machine-2", "machine-3"])
        self.assertIn("'dgx'", self.refuse(1, "show", "dgx.xml", "dgx.xml"))

    def test_made_up_clusters(self):
        line = "racks:2 nodes:4 gpu:8:h100 switch:4"
        shown = self.answer("show", line)
        self.assertIn("4 nodes, 32 GPUs", shown)
        self.assertIn("rack02", shown)
        self.assertEqual(len(json.loads(self.answer(
            "show", "--json", line))["nodes"]), 4)
        self.assertEqual(self.refuse(1, "show", "nodes:x").split("\n")[0],
                         "openpai: error: 'nodes:x' has no number")
        said = self.refuse(2, "show", "racks:2 gpu:8")
        self.assertIn("cannot read racks:2 gpu:8: No such file", said)
        self.assertIn("has 'nodes:N' in it", said)
        self.assertIn("hwloc:pck:2: error: ",
                      self.refuse(1, "show", "hwloc:pck:2"))

    def test_svg(self):
        tag = "{http://www.w3.org/2000/svg}svg"
        for source in ("dgx.xml", "good.yaml", "racks:4 nodes:128 gpu:8:h100"):
            picture = self.answer("show", "--svg", "-", source)
            self.assertEqual(xml.etree.ElementTree.fromstring(picture).tag,
                             tag)
            self.assertEqual(self.answer("show", "--svg", "a.svg", source), "")
            self.assertEqual((self.folder / "a.svg").read_text(), picture)
        self.assertEqual(
            self.refuse(1, "show", "--svg", "no/a.svg", "good.yaml"),
            "openpai: error: cannot write no/a.svg: "
            "No such file or directory\n"
            "  help: choose a folder that exists and in which you can create "
            "files\n")
        self.assertIn("cannot write /dev/full: No space left on device\n"
                      "  help: free space there", self.refuse(
            1, "show", "--svg", "/dev/full", "good.yaml"))
        self.refuse(1, "show", "--svg", "a.svg", "bad.yaml")
        self.assertEqual((self.folder / "a.svg").read_text(), picture)

    def test_what_is_wrong_with_files(self):
        self.assertEqual(self.refuse(1, "show", "bad.yaml"), BAD_TEXT)
        self.assertEqual(self.answer("show", "warned.yaml").split("\n")[0],
                         "3 nodes, 24 GPUs: 8 sick")
        self.assertEqual(
            self.refuse(2, "show", "none"),
            "openpai: error: cannot read none: No such file or directory\n")
        self.write("cut.xml", machine()[:700])
        self.assertRegex(self.refuse(1, "show", "cut.xml"),
                         r"^cut.xml:\d+:\d+: error: ")
        self.assertRegex(self.refuse(1, "show", "-", input="\n<html>\n</x>"),
                         r"^<stdin>:2:1: error: this XML cannot be read: ")
        self.assertIn("<stdin>:1:1: error: ",
                      self.refuse(1, "show", "-", input=""))
        self.assertIn("[wrong-type]", self.refuse(1, "show", "--as", "layout",
                                                  "dgx.xml"))
        said = self.refuse(2, "show", "dgx.xml", "none", "bad.yaml")
        self.assertIn("cannot read none", said)
        self.assertIn(BAD_TEXT, said)

    def test_usage(self):
        for args in (["--svg", "a", "--json"], ["--json", "--yaml"]):
            self.assertIn("exclude each other", self.refuse(2, "show", *args))
        self.assertIn("--name requires --yaml",
                      self.refuse(2, "show", "--name", "x", "dgx.xml"))
        self.assertIn("--name is valid for one machine only", self.refuse(
            2, "show", "--yaml", "--name", "x", "good.yaml"))
        self.assertIn("good.yaml is a cluster: only machines",
                      self.refuse(2, "show", "dgx.xml", "good.yaml"))
        self.assertIn("can be read only once",
                      self.refuse(2, "show", "-", "-", input=machine()))
        for verb in ("show", "check", "hived"):
            self.assertIn("unknown format of clusters 'x'\n  help: openpai",
                          self.refuse(2, verb, "--as", "x", "good.yaml"))
            self.assertIn("unknown option: --jsn\n  help: did you mean --json?",
                          self.refuse(2, verb, "--jsn"))
            self.assertIn("Exit status: 0", self.answer(verb, "--help"))
        self.assertIn("did you mean 'openpai cluster'?",
                      self.run_cli("clustr", "show").stderr)
        self.assertIn("cluster check: which files?", self.refuse(2, "check"))

    def test_output_that_cannot_be_written(self):
        for args in (["show", "good.yaml"], ["show", "--svg", "-", "dgx.xml"],
                     ["check", "bad.yaml"], ["check", "--json", "good.yaml"],
                     ["hived", "good.yaml"], ["top", "--once"],
                     ["top", "--json", "-n", "2", "-i", "0.05"]):
            with open("/dev/full", "w", encoding="ascii") as full:
                done = self.cluster(*args, stdout=full)
            self.assertEqual((done.returncode, done.stderr),
                             (1, "openpai: error: cannot write standard "
                              "output: No space left on device\n"), args)

    def test_a_reader_that_goes(self):
        read, write = os.pipe()
        os.close(read)
        done = self.cluster("show", "nodes:4096 gpu:8", "--json",
                            stdout=write)
        os.close(write)
        self.assertEqual((done.returncode, done.stderr), (-13, ""))


class Check(ClusterTest):
    def test_exit_codes(self):
        none = "openpai: error: cannot read none: No such file or directory\n"
        for code, *args in ((0, "good.yaml"), (0, "warned.yaml"),
                            (1, "--strict", "warned.yaml"), (1, "bad.yaml"),
                            (1, "good.yaml", "bad.yaml"), (2, "none"),
                            (2, "bad.yaml", "none", "good.yaml"),
                            (1, "--as", "hived", "good.yaml")):
            for form in ([], ["--json"], ["--sarif"], ["-q"]):
                done = self.cluster("check", *form, *args)
                self.assertEqual(done.returncode, code, (form, args))
                self.assertEqual(done.stderr, none if code == 2 else "")

    def test_text(self):
        self.assertEqual(self.answer("check", "good.yaml"), "")
        done = self.cluster("check", "bad.yaml")
        self.assertEqual((done.stdout, done.stderr), (BAD_TEXT, ""))
        done = self.cluster("check", "-", input=BAD)
        self.assertEqual(done.stdout, BAD_TEXT.replace("bad.yaml", "<stdin>"))
        self.assertIn("warning: SKU 'dgx' reserves nothing for the system",
                      self.answer("check", "warned.yaml"))
        done = self.cluster("check", "bad.yaml", "warned.yaml", "good.yaml")
        self.assertEqual(done.stdout.splitlines()[-1],
                         "1 error, 1 warning in 2 of 3 files")
        self.assertEqual(self.answer("check", "-q", "warned.yaml"), "")

    def test_json(self):
        self.write("k.json", KUBERNETES)
        done = self.cluster("check", "--json", "bad.yaml", "good.yaml",
                            "k.json", "none")
        bad, good, kubernetes, none = json.loads(done.stdout)
        self.assertEqual(bad, {
            "file": "bad.yaml", "version": None, "form": None,
            "valid": False, "diagnostics": [
                {"severity": "error", "code": "unknown-sku",
                 "pointer": "/nodes/1/sku", "line": 6, "column": 21,
                 "endLine": 6, "endColumn": 24,
                 "message": "there is no SKU 'dgz'",
                 "help": "did you mean 'dgx'?",
                 "fixes": [{"title": "write 'dgx'", "sure": False, "edits": [
                     {"line": 6, "column": 21, "endLine": 6, "endColumn": 24,
                      "text": "dgx"}]}]}]})
        self.assertEqual(good, {"file": "good.yaml", "version": None,
                                "form": "openpai", "valid": True,
                                "diagnostics": []})
        self.assertEqual((kubernetes["form"], kubernetes["valid"]),
                         ("kubernetes", True))
        self.assertEqual((none["form"], none["diagnostics"][0]["code"]),
                         (None, "unreadable"))
        bad, = json.loads(self.cluster("check", "--json", "--as", "openpai",
                                       "bad.yaml").stdout)
        self.assertEqual(bad["form"], "openpai")

    def test_sarif(self):
        done = self.cluster("check", "--sarif", "bad.yaml", "warned.yaml")
        run, = json.loads(done.stdout)["runs"]
        self.assertEqual([(r["ruleId"], r["level"]) for r in run["results"]],
                         [("unknown-sku", "error"), ("no-reserve", "warning")])
        for rule in run["tool"]["driver"]["rules"]:
            self.assertTrue(rule["shortDescription"]["text"])

    def test_machines_are_none(self):
        said = self.refuse(2, "check", "dgx.xml")
        self.assertIn("cannot check dgx.xml: it is XML, as of a machine",
                      said)

    def test_closing_line_on_a_terminal(self):
        path = str(self.folder / "good.yaml")
        self.assertEqual(self.on_terminal("cluster", "check", path),
                         "nothing wrong\r\n")


class Hived(ClusterTest):
    def test_of_everything(self):
        self.write("k.json", KUBERNETES)
        for sources in (["dgx.xml"], ["dgx.xml", "one.xml"], ["good.yaml"],
                        ["k.json"], ["racks:2 nodes:4 gpu:8:h100 numa:2"]):
            for form in ([], ["--json"]):
                text = self.cluster("hived", *form, *sources).stdout
                if form:
                    self.assertIn("physicalCluster", json.loads(text))
                self.write("h.yaml", text)
                self.answer("check", "-q", "--as", "hived", "h.yaml")
                # What HiveD's form becomes is the same again.
                self.assertEqual(
                    self.cluster("hived", *form, "h.yaml").stdout, text)

    def test_this_machine(self):
        self.this_machine_is(machine("host"))
        text = self.answer("hived", err=RESERVE % "SKU 'a100-2' leaves")
        self.assertIn("cellAddress: host", text)
        self.assertEqual(self.answer("hived", "-o", "h.yaml",
                                     err=RESERVE % "SKU 'a100-2' leaves"), "")
        self.assertEqual((self.folder / "h.yaml").read_text(), text)

    def test_what_runs_anyway(self):
        """Machines, descriptions and others' lists know nothing of daemons."""
        self.write("l.yaml", LAYOUT)
        self.write("k.json", KUBERNETES)
        self.answer("hived", "l.yaml", err=RESERVE % "SKU 'big' leaves")
        self.answer("hived", "nodes:2 gpu:8 mem:1T",
                    err=RESERVE % "SKU 'gpu-node' leaves")
        self.write("two.xml", machine("two", 3))
        self.answer("hived", "dgx.xml", "two.xml",
                    err=RESERVE % "SKU 'a100-2' and 1 more leave")
        for said in ("k.json", "good.yaml", "nodes:2 gpu:8 switch:2"):
            text = self.answer("hived", said)
        self.write("h.yaml", text)
        self.answer("hived", "h.yaml")
        self.assertIn("no-reserve", self.cluster("hived", "warned.yaml").stderr)
        self.assertNotIn("openpai: warning",
                         self.cluster("hived", "warned.yaml").stderr)

    def test_warnings_and_errors(self):
        done = self.cluster("hived", "warned.yaml")
        self.assertEqual(done.returncode, 0)
        self.assertIn("warned.yaml:2:3: warning: ", done.stderr)
        self.assertIn("physicalCells", done.stdout)
        self.assertEqual(self.refuse(1, "hived", "bad.yaml"), BAD_TEXT)
        self.write("h.yaml", "kept")
        said = self.refuse(1, "hived", "-o", "h.yaml", "nodes:2")
        self.assertIn("error: this cluster has no GPUs\n  help: ", said)
        self.assertEqual((self.folder / "h.yaml").read_text(), "kept")


class Shared(ClusterTest):
    def test_real_machines(self):
        root = pathlib.Path(__file__).resolve().parents[3]
        data = pathlib.Path(os.environ.get("OPENPAI_SHARED",
                                           root.parent / "shared"),
                            "data/topologies")
        if not data.is_dir():
            self.skipTest(f"there is no {data}")
        for path in sorted(data.glob("*.xml")):
            xml.etree.ElementTree.fromstring(
                self.answer("show", "--svg", "-", str(path)))
            self.write("h.yaml", self.cluster("hived", str(path)).stdout)
            self.assertEqual(self.answer("check", "h.yaml"), "")

    def test_files_of_hwloc(self):
        """OPENPAI_HWLOC names hwloc's unpacked source, which has the XML of
        many machines and versions: `apt-get source hwloc`."""
        data = pathlib.Path(os.environ.get("OPENPAI_HWLOC", "/nonexistent"),
                            "tests/hwloc/xml")
        if not data.is_dir():
            self.skipTest("OPENPAI_HWLOC does not name the source of hwloc")
        paths = sorted(data.glob("*.xml"))
        self.assertGreater(len(paths), 30)
        for path in paths:
            with self.subTest(path.name):
                self.answer("show", str(path))
