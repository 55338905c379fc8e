"""openpai metrics and usage; /metrics as promtool and Prometheus read it.

argv[2] is the folder of the dashboards.  promtool and prometheus are looked
for in PATH; without them these tests are skipped.
"""

import json
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import urllib.request

import program
import served

BURN = "while :; do :; done"


class Metrics(program.RootTest):
    def running(self):
        """A job that uses a CPU; until two samples of it are known."""
        self.ok("run", "-d", self.job(BURN))
        self.until(lambda: len(self.known("cpu")) >= 2)
        return "test"

    def read(self, *args):
        return json.loads(self.ok("metrics", *args, "--json"))

    def known(self, name, *args):
        return [value for one in self.read(*(args or ("test",)))["series"]
                if one["name"] == name
                for value in one["values"] if value is not None]

    def test_a_job(self):
        job = self.running()
        self.assertGreater(max(self.known("cpu")), 0)
        lines = self.ok("metrics", job).splitlines()
        self.assertRegex(lines[0], r"^TIME +cpu +memory +gpu ")
        self.assertRegex(lines[1], r"^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d ")
        self.assertRegex(lines[-1], r"^used of what it asked for:.* CPUs \d")
        one = self.read(job, "-s", "memory", "--step", "60", "--since", "10m")
        self.assertEqual([s["name"] for s in one["series"]], ["memory"])
        self.assertEqual(one["step"], 60)
        tasks = self.read(job, "--tasks")["series"]
        self.assertEqual((tasks[0]["role"], tasks[0]["index"]), ("a", 0))
        # it is over, and still there; also for the next platform
        self.ok("stop", job)
        self.until(lambda: self.read(job)["to"] > 0)
        before = self.known("cpu")
        self.ok("down")
        self.ok("up")
        self.assertEqual(self.known("cpu"), before)

    def test_charts(self):
        job = self.running()
        self.env["LANG"] = "C.UTF-8"
        shown = self.on_terminal("metrics", job)
        self.assertIn("cpu", shown)
        self.assertRegex(shown, "[\u2801-\u28ff]{5}")
        self.assertNotIn("gpuMemory", shown)  # there is none
        self.env["LANG"] = "C"
        self.env.pop("LC_ALL", None)
        shown = self.on_terminal("metrics", job)
        self.assertIn("#", shown)
        self.assertNotRegex(shown, "[\u2800-\u28ff]")

    def test_others(self):
        self.running()
        node = json.loads(self.ok("node", "list", "--json"))[0]["name"]
        self.assertGreater(max(self.known("memory", "--node", node)), 2**20)
        self.assertEqual(self.read("--queue")["series"][1]["name"],
                         "jobsRunning")
        self.assertNotEqual(self.known("cpusGuaranteed", "--vc", "default"),
                            [])
        self.refused(1, "Node elsewhere is not found", "metrics", "--node",
                     "elsewhere")
        self.refused(1, "none", "metrics", "none")
        self.refused(1, "There is no metric", "metrics", "test", "-s", "x")
        self.refused(2, "--since: not a time", "metrics", "test", "--since",
                     "yesterday")
        self.refused(2, "which job", "metrics")

    def test_usage(self):
        self.running()
        self.until(lambda: json.loads(
            self.ok("usage", "--json"))["total"].get("cpuUse", 0) > 0)
        shown = self.ok("usage")
        for word in ("Users", "Virtual clusters", "Jobs", "default", "test"):
            self.assertIn(word, shown)
        self.assertNotIn("test", self.ok("usage", "-u", "nobody"))
        page = self.folder / "report.html"
        self.assertEqual(self.ok("usage", "--html", page), "")
        text = page.read_text()
        self.assertIn("<h1>Use of the platform</h1>", text)
        self.assertIn("<td>test</td>", text)
        self.assertNotIn("<script", text)
        self.refused(1, "cannot write", "usage", "--html",
                     self.folder / "none" / "x.html")
        self.refused(2, "--since", "usage", "--since", "x")


class Exported(served.ServedTest):
    def setUp(self):
        super().setUp()
        self.serve()
        self.token = self.login()
        self.ok("run", "-d", self.job(BURN))
        self.until(lambda: "task_cpu_percent{" in self.metrics())

    def metrics(self):
        status, _, text = self.ask("GET", "/metrics", token=self.token)
        self.assertEqual(status, 200)
        return text

    def tool(self, name):
        path = shutil.which(name)
        if path is None:
            self.skipTest(f"there is no {name}: Debian's package prometheus "
                          "has it")
        return path

    def test_promtool(self):
        """Nothing is wrong but names, which are OpenPAI's and node-exporter's."""
        done = subprocess.run([self.tool("promtool"), "check", "metrics"],
                              input=self.metrics(), capture_output=True,
                              text=True, check=False)
        self.assertIn(done.returncode, (0, 3), done.stderr)
        for line in done.stderr.splitlines():
            self.assertRegex(line, r"^(configured_gpu_count|k8s_node_gpu_total|"
                             r"node_memory_Mem\w+_bytes|pai_job_pod_count|"
                             r"pai_node_count) |^$")

    def test_prometheus(self):
        """The real one scrapes it, and knows a series of the job."""
        tool = self.tool("prometheus")
        config = self.write("prometheus.yml", f"""\
global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: openpai
    authorization: {{credentials: {self.token}}}
    static_configs: [{{targets: ['{self.url.partition("//")[2]}']}}]
""")
        port = served_port()
        process = subprocess.Popen(
            [tool, f"--config.file={config}",
             f"--storage.tsdb.path={self.folder}/tsdb",
             f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"])
        try:
            self.until(lambda: "admin~" in query(port, "task_cpu_percent") or
                       "test" in query(port, "task_cpu_percent"))
            self.assertIn('"1"', query(port, 'up{job="openpai"}'))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)

    def test_names_are_few(self):
        """As many series as there are objects, whatever clients ask."""
        def series():
            return {line.rpartition(" ")[0]
                    for line in self.metrics().splitlines()
                    if not line.startswith("#")}
        series()
        for i in range(50):
            self.ask("GET", f"/api/v2/jobs/none{i}", token=self.token)
            self.ask("GET", f"/nonsense{i}/x", token=self.token)
        before = len(series())
        for i in range(50, 100):
            self.ask("GET", f"/api/v2/jobs/none{i}", token=self.token)
            self.ask("GET", f"/nonsense{i}/x", token=self.token)
        self.assertLessEqual(len(series()), before + 1)

    def test_dashboards(self):
        """Each name in a dashboard is one of /metrics, or one of GPUs."""
        names = set(re.findall(r"^# TYPE (\S+)", self.metrics(), re.M))
        source = pathlib.Path(sys.argv[2])
        boards = sorted(source.glob("*.json"))
        self.assertGreaterEqual(len(boards), 3)
        for path in boards:
            board = json.loads(path.read_text())
            for panel in board["panels"]:
                for target in panel["targets"]:
                    used = re.findall(
                        r"\b(?:openpai|task|node|k8s|pai|nvidiasmi|process)_\w+",
                        re.sub(r"\{[^}]*\}|by \([^)]*\)", "", target["expr"]))
                    self.assertNotEqual(used, [], target["expr"])
                    for name in used:
                        self.assertTrue(
                            name in names or
                            re.sub("_(sum|count)$", "", name) in names,
                            (path, name))


def served_port():
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def query(port, expression):
    address = (f"http://127.0.0.1:{port}/api/v1/query?query=" +
               urllib.request.quote(expression))
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return answer.read().decode()
    except OSError:
        return ""
