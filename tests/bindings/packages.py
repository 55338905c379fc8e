"""Installs the bindings as users do, offline, and runs the smoke tests.

Usage: packages.py CASE --source DIR --build DIR --work DIR
                   --interpreter FILE [--headers DIR]
  pip-sdist      the sdist, unpacked elsewhere, where there is no libopenpai
  pip-installed  `pip install bindings/python`, for a libopenpai that pkg-config
                 finds
  luarocks       `luarocks make`, with the headers of a Lua
  deb            `cpack -G DEB`, unpacked over this system's /usr
"""
import argparse
import ast
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

SKIP = 77
HERE = pathlib.Path(__file__).resolve().parent
OLDEST = (3, 9)  # of the Pythons that we promise

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
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "CMAKE_TOOLCHAIN_FILE": str(HERE / "quick.cmake")}


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
    run(python, HERE / "python/smoke.py", args.work / "root", cwd=args.work, **env)
    run(python, "-B", HERE.parent / "run.py", HERE / "python/test_python_handle.py",
        args.work / "handles", "Handles", cwd=args.work, **env)


def check_program(args, python):
    """The program of a package, in a process of its own and as a daemon."""
    told = subprocess.run([python.with_name("openpai"), "--version"],
                          check=True, capture_output=True, text=True).stdout
    if told != "openpai %s\n" % version(args.source):
        sys.exit("`openpai --version` wrote " + told)
    root = args.work / "platform"
    job = args.source / "examples/jobs/hello.yaml"
    try:
        run(python, "-m", "openpai", "run", "--root", root, job, cwd=args.work)
    finally:
        run(python.with_name("openpai"), "down", "--root", root, cwd=args.work)
    wrong = subprocess.run([python, "-m", "openpai", "nonsense"], check=False,
                           capture_output=True, cwd=args.work).returncode
    if wrong != 2:
        sys.exit("`python -m openpai nonsense` exited with %d" % wrong)


def ways(args):
    """Which ways pip has here: (into a venv, with --target)."""
    venv = answers(args.interpreter, "-c", "import venv, ensurepip")
    target = answers(args.interpreter, "-m", "pip", "--version")
    if not venv and not target:
        skip("neither python3-venv nor python3-pip")
    return venv, target


def make_sdist(args):
    run(args.interpreter, "-B", "-c",
        "import sys, openpai_build; openpai_build.build_sdist(sys.argv[1])",
        args.work, PYTHONPATH=str(args.source / "bindings/python"))
    return args.work / ("openpai-%s.tar.gz" % version(args.source))


def case_pip_sdist(args):
    venv, _ = ways(args)
    if answers("pkg-config", "--exists", "openpai"):
        skip("a libopenpai is installed here, which pip would take")
    sdist = make_sdist(args)
    if sdist.read_bytes() != make_sdist(args).read_bytes():
        sys.exit("two sdists of one tree differ")
    with tarfile.open(sdist) as archive:
        archive.extractall(args.work)
    python, env = pip_install(
        args, sdist.with_name(sdist.name[:-len(".tar.gz")]), venv)
    check_package(args, python, env)
    if venv:
        check_program(args, python)


def case_pip_installed(args):
    if not answers(args.interpreter, "-c", "import sys, sysconfig, os;"
                   "sys.exit(not os.path.exists(sysconfig.get_path('include')"
                   " + '/Python.h'))"):
        skip("no headers for " + str(args.interpreter))
    _, target = ways(args)
    stage = args.work / "stage"
    run("cmake", "--install", args.build, "--prefix", stage)
    pc = next(stage.rglob("openpai.pc")).parent
    python, env = pip_install(
        args, args.source / "bindings/python", not target,
        OPENPAI_LIBRARY="installed", PKG_CONFIG_PATH=str(pc),
        CFLAGS="-O0")  # what optimizing takes is not what is tested
    check_package(args, python, env)
    # Without a program of its own it takes the one on PATH.
    run(python, "-m", "openpai", "--version", cwd=args.work, **env,
        PATH="%s:%s" % (stage / "bin", os.environ["PATH"]))


def case_oldest_python(args):
    """All that is Python is read by the oldest one, too."""
    folder = args.source / "bindings/python"
    files = sorted([*folder.glob("*.py"), *folder.glob("openpai/**/*.py")])
    for path in files:
        ast.parse(path.read_text(), path, feature_version=OLDEST)
    if len(files) < 20:
        sys.exit("too few files: %s" % files)


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
    headers = ["LUA_INCDIR=%s" % args.headers] if args.headers else []
    run("luarocks", "--lua-version", lua, "--tree", tree, "make", rockspec,
        *headers, cwd=args.source)
    env = {"LUA_CPATH": "%s;;" % (tree / "lib/lua" / lua / "?.so")}
    run(args.interpreter, HERE / "lua/smoke.lua", args.work / "root",
        cwd=args.work, **env)
    (args.work / "platforms").mkdir()
    run(args.interpreter, "test_lua_platform.lua", args.work / "platforms",
        cwd=HERE / "lua", **env)


# --- Debian ------------------------------------------------------------------

# Package: what it depends on, of ours and of others.
PACKAGES = {
    "libopenpai%s": ("openpai-task", "libuv1"),
    "libopenpai-server%s": ("libopenpai%s", "libgnutls30"),
    "openpai-task": (),
    "libopenpai-dev": ("libopenpai%s", "libopenpai-server%s", "libuv1-dev"),
    "openpai": ("libopenpai-server%s", "openpai-task", "libc6"),
    "python3-openpai": ("libopenpai%s", "python3"),
    "lua-openpai": ("libopenpai%s", "libc6")}

# Run with the packages' files in /usr, as the user of a machine has them.
USE = """\
set -eux
cd "$1"
export HOME="$1"
mount -t overlay overlay -o "lowerdir=$1/root/usr:/usr" /usr
openpai --version | grep -x "openpai $4"
trap 'openpai down --root "$1/platform"' EXIT
openpai run --root "$1/platform" "$2/examples/jobs/hello.yaml"
! readelf -d /usr/bin/openpai | grep -E 'RPATH|RUNPATH'
gzip -t /usr/share/man/man1/openpai.1.gz
cc -Wall -Werror "$2/examples/hello.c" -o hello $(pkg-config --cflags --libs openpai)
./hello "$2/examples/jobs/hello.yaml"
cc -Wall -Werror "$3/smoke.c" -o smoke $(pkg-config --static --cflags --libs openpai)
./smoke "$1/smoke.c.root"
if [ -d /usr/lib/python3/dist-packages/openpai ]; then
  /usr/bin/python3 "$3/python/smoke.py" "$1/smoke.py.root"
  /usr/bin/python3 -m openpai --version
  /usr/bin/python3 -c "import importlib.metadata as m
assert m.version('openpai') == '$4'"
fi
lua=$(command -v lua5.4 || :)
[ -z "$lua" ] || "$lua" "$3/lua/smoke.lua" "$1/smoke.lua.root"
"""


def fields(package):
    """{name: depends, without versions} of a package."""
    def field(name):
        return subprocess.run(["dpkg-deb", "-f", package, name], check=True,
                              capture_output=True, text=True).stdout.strip()
    depends = [word.split()[0] for word in field("Depends").split(",") if word]
    if not field("Description").strip() or not field("Maintainer"):
        sys.exit("%s: no description, or no maintainer" % package)
    return field("Package"), depends


def case_deb(args):
    for program in ("dpkg-deb", "dpkg-shlibdeps", "cpack", "unshare"):
        if not shutil.which(program):
            skip("no " + program)
    config = args.build / "CPackConfig.cmake"
    run("cpack", "-G", "DEB", "--config", config, "-B", args.work / "deb")
    packages = sorted((args.work / "deb").glob("*.deb"))
    abi = version(args.source).rpartition(".")[0]
    wanted = {name.replace("%s", abi): [d.replace("%s", abi) for d in depends]
              for name, depends in PACKAGES.items()}
    found = dict(map(fields, packages))
    if "python3-openpai" not in found:
        print("not made: python3-openpai, for this is not Debian's Python")
        del wanted["python3-openpai"]
    if "lua-openpai" not in found:
        print("not made: lua-openpai")
        del wanted["lua-openpai"]
    if set(found) != set(wanted):
        sys.exit("packages: %s" % sorted(found))
    for name, depends in wanted.items():
        if not set(depends) <= set(found[name]):
            sys.exit("%s depends on %s" % (name, found[name]))
    # As dpkg does it: it refuses a file that two packages have.
    root = args.work / "root"
    (root / "var/lib/dpkg/info").mkdir(parents=True)
    (root / "var/lib/dpkg/updates").mkdir()
    (root / "var/lib/dpkg/status").touch()
    run("unshare", "-r", "dpkg", "--root=%s" % root, "--force-depends",
        "--unpack", *packages)
    if not answers("unshare", "-rm", "mount", "-t", "overlay", "overlay", "-o",
                   "lowerdir=%s/usr:/usr" % root, "/usr"):
        skip("made and unpacked; not used, for overlays cannot be mounted")
    run("unshare", "-rm", "sh", "-c", USE, "sh", args.work, args.source, HERE,
        version(args.source))


def main():
    cases = {name[len("case_"):].replace("_", "-"): function
             for name, function in globals().items()
             if name.startswith("case_")}
    parser = argparse.ArgumentParser()
    parser.add_argument("case", choices=cases)
    for name in ("source", "build", "work", "interpreter"):
        parser.add_argument("--" + name, type=pathlib.Path, required=True)
    parser.add_argument("--headers", type=pathlib.Path)
    args = parser.parse_args()
    shutil.rmtree(args.work, ignore_errors=True)
    args.work.mkdir(parents=True)
    cases[args.case](args)


if __name__ == "__main__":
    main()
