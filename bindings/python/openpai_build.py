"""Builds the Python package for pip (PEP 517), with the standard library only.

The C library is an installed libopenpai, found by pkg-config, or else it is
built from the source tree that this folder lies in and linked statically; then
the package has the program `openpai`, too.  OPENPAI_LIBRARY=installed or =source in the environment insists on one.
"""
import base64
import gzip
import hashlib
import io
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent  # the repository, or the sdist of build_sdist()
SWIG = HERE.parent / "swig"
PROGRAMS = ("bin/openpai", "libexec/openpai/openpai-task")
EPOCH = (1980, 1, 1, 0, 0, 0)  # earliest time of a zip, for reproducible wheels

METADATA = """\
Metadata-Version: 2.1
Name: openpai
Version: %s
Summary: OpenPAI as a library: read a job file, run it on this machine
License: MIT
Requires-Python: >=3.9
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: Implementation :: CPython
Classifier: Typing :: Typed
"""


SCRIPT = b"""\
[console_scripts]
openpai = _openpai_program:main
"""

PYPROJECT = b"""\
[build-system]
requires = []
build-backend = "openpai_build"
backend-path = ["bindings/python"]
"""


def version():
    header = (SOURCE / "include/openpai/version.h").read_text()
    return ".".join(re.findall(
        r"define PAI_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))


def package_files():
    return sorted(path for path in (HERE / "openpai").rglob("*")
                  if path.suffix in (".py", ".typed"))


# --- compiling ---------------------------------------------------------------

def need(program, package):
    if not shutil.which(program):
        sys.exit("openpai: %s is needed to build this package; on Debian: "
                 "apt-get install %s" % (program, package))


def run(work, *command):
    """Runs it in `work`: swig takes our python.swg for its own in here."""
    command = [str(part) for part in command]
    print("+", " ".join(shlex.quote(part) for part in command), flush=True)
    if subprocess.run(command, cwd=work, check=False).returncode != 0:
        sys.exit("openpai: %s failed, see above" % command[0])


def pkg_config(*arguments, **env):
    """The words it prints, or None if it fails."""
    program = os.environ.get("PKG_CONFIG", "pkg-config")
    answer = subprocess.run([program, *arguments], capture_output=True,
                            text=True, check=False,
                            env={**os.environ, **env})
    return shlex.split(answer.stdout) if answer.returncode == 0 else None


def installed_library():
    """(compiler's arguments, linker's arguments), or None."""
    wanted = "openpai >= " + version()
    if pkg_config("--exists", wanted) is None:
        return None
    folder, = pkg_config("--variable=libdir", "openpai")
    found = pkg_config("--libs", "openpai")
    if not folder.startswith(("/usr/lib", "/lib")):  # searched by default
        found.append("-Wl,-rpath," + folder)
    return pkg_config("--cflags", "openpai"), found


def library_from_source(work):
    """The same, for a static library that it builds in `work`."""
    need("cmake", "cmake")
    build, stage = work / "build", work / "stage"
    off = ["-DOPENPAI_%s=OFF" % part for part in (
        "BUILD_TESTS", "BUILD_BENCH", "BUILD_EXAMPLES", "BUILD_PYTHON",
        "BUILD_LUA")]
    run(work, "cmake", "-S", SOURCE, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
        "-DCMAKE_INSTALL_LIBDIR=lib", "-DCMAKE_INSTALL_LIBEXECDIR=libexec",
        "-DOPENPAI_CLI_STATIC=ON", *off)
    run(work, "cmake", "--build", build, "--parallel",
        len(os.sched_getaffinity(0)))
    run(work, "cmake", "--install", build, "--prefix", stage, "--strip")
    for shared in (stage / "lib").glob("libopenpai.so*"):
        shared.unlink()  # so that -lopenpai finds the static library
    path = os.pathsep.join(filter(None, [
        str(stage / "lib/pkgconfig"), os.environ.get("PKG_CONFIG_PATH")]))
    return (pkg_config("--cflags", "openpai", PKG_CONFIG_PATH=path),
            pkg_config("--static", "--libs", "openpai", PKG_CONFIG_PATH=path)
            + ["-Wl,--exclude-libs,ALL"])


def library(work):
    need(os.environ.get("PKG_CONFIG", "pkg-config"), "pkg-config")
    choice = os.environ.get("OPENPAI_LIBRARY", "")
    found = installed_library() if choice != "source" else None
    if found is None and choice != "installed":
        found = library_from_source(work)
    if found is None:
        sys.exit("openpai: pkg-config finds no libopenpai %s or later"
                 % version())
    return found


def words(name):
    """A setting of the interpreter's own build, which CC and such override."""
    value = os.environ.get(name) or sysconfig.get_config_var(name) or ""
    return shlex.split(value)


def build_extension(work, package):
    """Puts the extension and its Python half into the folder `package`."""
    need("swig", "swig")
    wrap = work / "facade_wrap.c"
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    compile_args, link_args = library(work)
    for program in PROGRAMS:
        if (work / "stage" / program).exists():  # else it is installed
            shutil.copy(work / "stage" / program, package)
    run(work, sys.executable, "-B", SOURCE / "src/api/generate_python.py",
        package)
    run(work, sys.executable, "-B", HERE / "blocking.py", package)
    for script in ("records.py", "interface.py", "accounts.py"):
        for language, out in (("c", work), ("python", package)):
            run(work, sys.executable, "-B", SWIG.parent / script, language,
                out)
    run(work, "swig", "-python", "-builtin", "-I%s" % work, "-outdir", package,
        "-o", wrap, SWIG / "openpai.i")
    paths = sysconfig.get_paths()
    common = [*words("CFLAGS"), *words("CCSHARED"), "-fvisibility=hidden",
              "-pthread", "-DSWIG_TYPE_TABLE=openpai", "-I", SWIG, "-I", HERE, "-I", work,
              "-I", paths["include"], "-I", paths["platinclude"],
              *compile_args]
    objects = []
    for source in (*sorted(work.glob("facade_*.c")), *sorted(HERE.glob("*.c")),
                   *sorted(SWIG.rglob("*.c"))):
        objects.append(work / (source.stem + ".o"))
        run(work, *words("CC"), *common, *(["-w"] if source == wrap else []),
            "-c", source, "-o", objects[-1])
    run(work, *words("LDSHARED"), *objects, *words("LDFLAGS"), *link_args,
        "-pthread", "-o", package / ("_facade" + suffix))


# --- packing -----------------------------------------------------------------

def tag():
    if sys.implementation.name != "cpython":
        sys.exit("openpai: only CPython is supported")
    python = "cp%d%d" % sys.version_info[:2]
    abi = "cp" + sysconfig.get_config_var("SOABI").split("-")[1]
    platform = re.sub(r"[-. ]", "_", sysconfig.get_platform())
    return "%s-%s-%s" % (python, abi, platform)


def write_wheel(path, files):
    """`files` is {name: bytes}; the last one, RECORD, is made here."""
    info = "openpai-%s.dist-info" % version()
    programs = ["openpai/" + pathlib.Path(name).name for name in PROGRAMS]
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        def add(name, data):
            entry = zipfile.ZipInfo(name, EPOCH)
            mode = 0o755 if name in programs or name.endswith(".so") else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)

        for name, data in sorted(files.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
            record.append("%s,sha256=%s,%d\n" % (
                name, digest.decode().rstrip("="), len(data)))
            add(name, data)
        record.append(info + "/RECORD,,\n")
        add(info + "/RECORD", "".join(record).encode())


def metadata():
    """{name: bytes} of the wheel's dist-info, without RECORD."""
    info = "openpai-%s.dist-info/" % version()
    return {
        info + "METADATA": (METADATA % version()).encode(),
        info + "WHEEL": ("Wheel-Version: 1.0\nGenerator: openpai_build\n"
                         "Root-Is-Purelib: false\nTag: %s\n" % tag()).encode(),
        info + "LICENSE": (SOURCE / "LICENSE").read_bytes()}


def prepare_metadata_for_build_wheel(metadata_directory,
                                     config_settings=None):
    for name, data in metadata().items():
        path = pathlib.Path(metadata_directory, name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    return path.parent.name


def build_wheel(wheel_directory, config_settings=None,
                metadata_directory=None):
    name = "openpai-%s-%s.whl" % (version(), tag())
    files = metadata()
    with tempfile.TemporaryDirectory() as work:
        package = pathlib.Path(work, "package")
        (package / "_remote").mkdir(parents=True)
        build_extension(pathlib.Path(work), package)
        for folder, paths in ((package, package.rglob("*")),
                              (HERE / "openpai", package_files())):
            files.update(
                ("openpai/%s" % path.relative_to(folder), path.read_bytes())
                for path in paths if path.is_file())
    if "openpai/openpai" in files:
        script = HERE / "_openpai_program.py"
        files[script.name] = script.read_bytes()
        files["openpai-%s.dist-info/entry_points.txt" % version()] = SCRIPT
    write_wheel(pathlib.Path(wheel_directory, name), files)
    return name


def source_files():
    """What a build needs of the source tree, and what people read first."""
    yield from (SOURCE / name for name in (
        "CMakeLists.txt", "LICENSE", "README.md",
        "bindings/CMakeLists.txt", "bindings/README.md",
        "bindings/accounts.py", "bindings/accounts.txt",
        "bindings/interface.py", "bindings/interface.txt",
        "bindings/interface_js.py",
        "bindings/records.py", "bindings/records.txt"))
    for folder in ("bindings/python", "bindings/swig", "examples/templates",
                   "include", "pkgconfig", "src"):
        yield from (path for path in (SOURCE / folder).rglob("*")
                    if path.is_file() and path.suffix != ".pyc")


def build_sdist(sdist_directory, config_settings=None):
    """A source tree that has this folder's builder at its top."""
    base = "openpai-" + version()
    files = {str(path.relative_to(SOURCE)): path.read_bytes()
             for path in source_files()}
    files["PKG-INFO"] = (METADATA % version()).encode()
    files["pyproject.toml"] = PYPROJECT
    name = pathlib.Path(sdist_directory, base + ".tar.gz")
    with gzip.GzipFile(name, "wb", mtime=0) as packed, \
            tarfile.open(fileobj=packed, mode="w",
                         format=tarfile.PAX_FORMAT) as archive:
        for path, data in sorted(files.items()):
            entry = tarfile.TarInfo("%s/%s" % (base, path))
            entry.size = len(data)
            entry.mode = 0o644
            archive.addfile(entry, io.BytesIO(data))
    return name.name
