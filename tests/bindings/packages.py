"""Installs the bindings as users do, offline, and runs the smoke tests.

Usage: packages.py CASE --source DIR --build DIR --work DIR --interpreter FILE
  pip-source     `pip install bindings/python`, libopenpai from source
  pip-installed  an sdist, for a libopenpai that pkg-config finds
  luarocks       `luarocks make`
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

SKIP = 77

# Run by the interpreter that has the package: every file is as recorded.
INTACT = """
import base64, hashlib, importlib.metadata, sys, openpai
package = importlib.metadata.distribution("openpai")
assert package.version == openpai.__version__ == sys.argv[1]
names = [str(file) for file in package.files]
assert "openpai/py.typed" in names and "openpai/facade.py" in names
for file in package.files:
    if file.hash:
        digest = hashlib.new(file.hash.mode, file.read_binary()).digest()
        assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == \\
            file.hash.value, file
"""


def run(*command, cwd=None, **env):
    print("+", " ".join(map(str, command)), flush=True)
    subprocess.run(list(map(str, command)), check=True, cwd=cwd,
                   env={**clean_environment(), **env})


def answers(*command):
    return subprocess.run(list(map(str, command)), check=False,
                          capture_output=True).returncode == 0


def clean_environment():
    """Without settings that find a module or an index elsewhere."""
    env = {name: value for name, value in os.environ.items() if
           not name.startswith(("PIP_", "PYTHON", "LUA_"))}
    return {**env, "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull,
            "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def skip(reason):
    print("skipped: " + reason)
    sys.exit(SKIP)


def version(source):
    header = (source / "include/openpai/version.h").read_text()
    return ".".join(line.split()[2] for line in header.splitlines()
                    if line.startswith("#define PAI_VERSION_M") or
                    line.startswith("#define PAI_VERSION_P"))


# --- pip ---------------------------------------------------------------------

def pip_install(args, what, into_venv, **env):
    """Returns the interpreter, and the variables, that find the package."""
    install = ["-m", "pip", "install", "--no-index", "--no-cache-dir"]
    if into_venv:
        run(args.interpreter, "-m", "venv", args.work / "venv")
        python = args.work / "venv/bin/python"
        run(python, *install, what, **env)
        return python, {}
    run(args.interpreter, *install, "--target", args.work / "target", what,
        **env)
    return args.interpreter, {"PYTHONPATH": str(args.work / "target")}


def check_package(args, python, env):
    # Not in the source tree, where a folder has the package's name.
    run(python, "-c", INTACT, version(args.source), cwd=args.work, **env)
    run(python, pathlib.Path(__file__).with_name("smoke.py"),
        args.work / "root", cwd=args.work, **env)


def ways(args):
    """Which ways pip has here: (into a venv, with --target)."""
    venv = answers(args.interpreter, "-c", "import venv, ensurepip")
    target = answers(args.interpreter, "-m", "pip", "--version")
    if not venv and not target:
        skip("neither python3-venv nor python3-pip")
    return venv, target


def case_pip_source(args):
    venv, _ = ways(args)
    check_package(args, *pip_install(
        args, args.source / "bindings/python", venv,
        OPENPAI_LIBRARY="source"))


def case_pip_installed(args):
    _, target = ways(args)
    stage = args.work / "stage"
    run("cmake", "--install", args.build, "--prefix", stage)
    pc = next(stage.rglob("openpai.pc")).parent
    run(args.interpreter, "-B", "-c",
        "import sys, openpai_build; openpai_build.build_sdist(sys.argv[1])",
        args.work, PYTHONPATH=str(args.source / "bindings/python"))
    sdist = args.work / ("openpai-%s.tar.gz" % version(args.source))
    check_package(args, *pip_install(
        args, sdist, not target, OPENPAI_LIBRARY="installed",
        PKG_CONFIG_PATH=str(pc)))


# --- LuaRocks ----------------------------------------------------------------

def case_luarocks(args):
    if not shutil.which("luarocks") or not os.access(args.interpreter,
                                                     os.X_OK):
        skip("no luarocks, or no Lua")
    lua = subprocess.run([args.interpreter, "-e", "print(_VERSION:sub(5))"],
                         check=True, capture_output=True,
                         text=True).stdout.strip()
    rockspec = (args.source / "bindings/lua" /
                ("openpai-%s-1.rockspec" % version(args.source)))
    tree = args.work / "rocks"
    run("luarocks", "--lua-version", lua, "--tree", tree, "make", rockspec,
        cwd=args.source)
    run(args.interpreter, pathlib.Path(__file__).with_name("smoke.lua"),
        args.work / "root", cwd=args.work,
        LUA_CPATH=str(tree / "lib/lua" / lua / "?.so"))


def main():
    cases = {name[len("case_"):].replace("_", "-"): function
             for name, function in globals().items()
             if name.startswith("case_")}
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=cases)
    for name in ("source", "build", "work", "interpreter"):
        parser.add_argument("--" + name, type=pathlib.Path, required=True)
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    cases[args.case](args)


if __name__ == "__main__":
    main()
