"""The notebooks of examples/, executed as Jupyter does it.

Usage: notebooks.py FOLDER-OF-NOTEBOOKS WORK-FOLDER

Exit code 77: there is no Jupyter here.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

#: What a reader is to see, besides that no cell fails.
SEEN = {
    "first-job.ipynb": ["did you mean 'host'?", "I am worker 1", "succeeded",
                        "in a job of its own", "KeyError: 'cpu'"],
    "functions.ipynb": ["True 3.0", "ArithmeticError: the loss grows",
                        'File "Cell In[3]", line 4, in fit', "[2.996, 3.0, 3.0]",
                        "got an unexpected keyword argument 'sed'"],
    "scheduling-policy.ipynb": ["SmallestFirst", "Request 3 waits",
                                'data-openpai="report"', "image/svg+xml"],
    "topology.ipynb": ["bind to CPUs 0-7", "image/svg+xml", "bob 8"],
    "what-if.ipynb": ["starts at once: train-5", "train-4 (request 4) of ann",
                      "never rather than"],
}


def outputs(path):
    """All that the cells have shown, as one text."""
    parts = []
    for cell in json.loads(path.read_text())["cells"]:
        for output in cell.get("outputs", ()):
            parts += output.get("text", ())
            parts += output.get("traceback", ())
            for kind, data in output.get("data", {}).items():
                parts += [kind, *data]
    return re.sub(r"\x1b\[[0-9;]*m", "", "".join(parts))


def main():
    notebooks, work = map(pathlib.Path, sys.argv[1:])
    jupyter = [sys.executable, "-m", "nbconvert"]
    if subprocess.run([sys.executable, "-c", "import nbconvert, ipykernel"],
                      stderr=subprocess.DEVNULL, check=False).returncode:
        print("skipped: no Jupyter (jupyter-nbconvert, python3-ipykernel)")
        return 77
    shutil.rmtree(work, ignore_errors=True)
    (work / "state").mkdir(parents=True)
    kernel = work / "share/jupyter/kernels/python3"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps({
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f",
                 "{connection_file}"],
        "display_name": "Python 3", "language": "python"}))
    bad = 0
    for path in sorted(notebooks.glob("*.ipynb")):
        text = json.loads(path.read_text())
        if any(cell.get("outputs") for cell in text["cells"]):
            print("%s: it is committed with outputs" % path.name)
            bad += 1
        done = subprocess.run(
            [*jupyter, "--to", "notebook", "--execute", "--output-dir",
             str(work), str(path)], text=True, capture_output=True,
            check=False, env={
                **os.environ, "XDG_STATE_HOME": str(work / "state"),
                "JUPYTER_PATH": str(work / "share/jupyter"),
                "IPYTHONDIR": str(work / "ipython"),
                "PYTHONWARNINGS": "ignore"})
        if done.returncode:
            print(path.name + " failed:", *done.stderr.splitlines()[-25:],
                  sep="\n")
            bad += 1
            continue
        seen = outputs(work / path.name)
        lacks = [part for part in SEEN[path.name] if part not in seen]
        for part in lacks:
            print("%s does not show %r" % (path.name, part))
        bad += bool(lacks)
        print("%s: %s" % (path.name, "bad" if lacks else "good"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
