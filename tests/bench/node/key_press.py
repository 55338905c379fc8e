#!/usr/bin/env python3
"""openpai helper against npm's yaml-language-server with the job files' schema:
the processor time of a key press, the start, and memory with ten files open.

Usage: key_press.py OPENPAI BUILD_DIR
Needs node and npm, which install the server into BUILD_DIR/yaml-server.
"""
import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "cli"))

from edited import Editor  # noqa: E402

VERSION = "1.25.0"
SMALL, LARGE = 9, 3500  # task roles: about 2.5 KB and 1 MB
TICKS = os.sysconf("SC_CLK_TCK")


def job(roles):
    role = """  role%d:
    instances: 2
    dockerImage: image
    resourcePerInstance: {cpu: 4, memoryMB: 8192, gpu: 1}
    completion: {minFailedInstances: 1}
    commands:
      - python train.py --index %d --rate <%% $parameters.rate %%>
      - echo "this role has ended" >> log.txt; sleep 1
"""
    return ("protocolVersion: 2\nname: train\ntype: job\nparameters:\n"
            "  rate: 0.1\nprerequisites:\n  - name: image\n"
            "    type: dockerimage\n    uri: openpai/standard\ntaskRoles:\n"
            + "".join(role % (i, i) for i in range(roles)))


class Server(Editor):
    """A server, whose requests to the editor are answered."""
    def __init__(self, words, settings):
        self.settings = settings
        self.began = time.perf_counter()
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        super().__init__(self.process.stdin, self.process.stdout)
        self.begin(workspace={"configuration": True})

    def hear(self):
        message = super().hear()
        while message is not None and "method" in message and "id" in message:
            items = message["params"].get("items", [])
            answer = [self.settings.get(item.get("section"))
                      for item in items] if items else None
            self.send({"id": message["id"], "result": answer})
            message = super().hear()
        return message

    def diagnostics(self, uri):
        while True:
            news = self.next_news("textDocument/publishDiagnostics")
            if news["uri"] == uri:
                return news["diagnostics"]

    def read(self, name):
        return pathlib.Path(f"/proc/{self.process.pid}/{name}").read_text()

    def processor(self):
        """Seconds of the processor until now."""
        fields = self.read("stat").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def resident(self):
        return int(self.read("statm").split()[1]) * os.sysconf("SC_PAGESIZE")

    def presses(self, uri, count):
        """Milliseconds of a press: of the processor, and until it is told."""
        before, began = self.processor(), time.perf_counter()
        for i in range(count):
            wrong = i % 2 == 0  # a press that makes a fault, or mends it
            self.note("textDocument/didChange",
                      textDocument={"uri": uri, "version": i + 2},
                      contentChanges=[{
                          "range": {"start": {"line": 2, "character": 6},
                                    "end": {"line": 2,
                                            "character": 9 if wrong else 10}},
                          "text": "jobs" if wrong else "job"}])
            found = self.diagnostics(uri)
            if bool(found) != wrong:
                raise AssertionError((i, found[:2]))
        return ((self.processor() - before) / count * 1000,
                (time.perf_counter() - began) / count * 1000)

    def close(self):
        self.ask("shutdown")
        self.note("exit")
        self.process.wait()


def measure(words, settings, small, large):
    server = Server(words, settings)
    uri = "file:///w/job0.pai.yaml"
    server.note("textDocument/didOpen", textDocument={
        "uri": uri, "languageId": "yaml", "version": 1, "text": job(SMALL)})
    server.diagnostics(uri)
    start = (time.perf_counter() - server.began) * 1000
    for i in range(1, 10):
        other = "file:///w/job%d.pai.yaml" % i
        server.note("textDocument/didOpen", textDocument={
            "uri": other, "languageId": "yaml", "version": 1,
            "text": job(SMALL)})
        server.diagnostics(other)
    resident = server.resident() / 1e6
    server.presses(uri, 20)  # warm
    few = server.presses(uri, small)
    big = "file:///w/big.pai.yaml"
    server.note("textDocument/didOpen", textDocument={
        "uri": big, "languageId": "yaml", "version": 1, "text": job(LARGE)})
    server.diagnostics(big)
    many = server.presses(big, large)
    server.close()
    return start, resident, few, many


def install(build):
    folder = build / "yaml-server"
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "node_modules/.bin/yaml-language-server"
    if not program.exists():
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund",
                        "--ignore-scripts",
                        "yaml-language-server@" + VERSION],
                       cwd=folder, check=True)
    return program


def main():
    openpai, build = sys.argv[1], pathlib.Path(sys.argv[2])
    program = install(build)
    schema = build / "yaml-server/job.schema.json"
    schema.write_bytes(subprocess.check_output(
        [openpai, "spec", "schema"]))
    settings = {"yaml": {"validate": True, "completion": True, "hover": True,
                         "schemas": {schema.resolve().as_uri(): "*"},
                         "schemaStore": {"enable": False}},
                "[yaml]": {}, "editor": {}, "files": {}, "http": {}}
    theirs = measure(["node", str(program), "--stdio"], settings, 20, 6)
    ours = measure([openpai, "helper"], {}, 2000, 20)
    print(json.dumps({"ours": ours, "theirs": theirs}), file=sys.stderr)
    print("start to the first diagnostics: %.0f ms, theirs %.0f ms (goal 30)"
          % (ours[0], theirs[0]))
    print("memory with ten files: %.1f MB, theirs %.0f MB (goal 15)"
          % (ours[1], theirs[1]))
    for name, i in (("2.5 KB", 2), ("1 MB", 3)):
        print("key press in %s: processor %.3f ms, theirs %.1f ms: %.0f times "
              "as fast (goal 20); to its diagnostics %.2f ms, theirs %.0f ms"
              % (name, ours[i][0], theirs[i][0], theirs[i][0] / ours[i][0],
                 ours[i][1], theirs[i][1]))


if __name__ == "__main__":
    main()
