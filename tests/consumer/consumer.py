"""Uses the library as others do: installs it, moves it, builds programs.

Usage: consumer.py CASE --source DIR --build DIR --work DIR --version X.Y.Z
                   --cc PROGRAM --cxx PROGRAM [--flag=FLAG]...
The case `install` makes WORK/stage, which the other cases need.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

SKIP = 77
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
CXX = ("c++11", "c++14", "c++17", "c++20", "c++23")


def run(*command, **env):
    print("+", " ".join(map(str, command)), flush=True)
    subprocess.run(list(map(str, command)), check=True,
                   env={**os.environ, **{k: str(v) for k, v in env.items()}})


def output(*command, **env):
    return subprocess.run(list(map(str, command)), check=True,
                          capture_output=True, text=True,
                          env={**os.environ, **env}).stdout.strip()


def fail(reason):
    print("failed: " + reason)
    sys.exit(1)


def skip(reason):
    print("skipped: " + reason)
    sys.exit(SKIP)


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def listing(folder):
    return sorted(p.relative_to(folder) for p in folder.rglob("*")
                  if not p.is_dir())


def find(folder, name):
    found = list(folder.rglob(name))
    return found[0] if found else fail("not installed: " + name)


def case_install(args):
    """Installs, looks for paths of the build, and moves the tree away."""
    first = fresh(args.work / "first")
    run("cmake", "--install", args.build, "--prefix", first)
    for path in listing(first):
        text = (first / path).read_bytes()
        for folder in (args.source, args.build, first):
            if b"\0" not in text and bytes(folder) in text:
                fail("%s names %s" % (path, folder))
    shutil.rmtree(args.stage, ignore_errors=True)
    first.rename(args.stage)
    program = args.stage / "bin/openpai"
    if program.exists() and args.version not in output(program, "--version"):
        fail("openpai --version does not say " + args.version)


def case_destdir(args):
    dest = fresh(args.work / "destdir")
    run("cmake", "--install", args.build, DESTDIR=dest)
    prefix = find(dest, "version.h").parent.parent.parent
    if listing(prefix) != listing(args.stage):
        fail("DESTDIR and --prefix install different files")


def pkg_config(stage, *args, package="openpai"):
    return output("pkg-config", *args, package, PKG_CONFIG_PATH=str(
        find(stage, "openpai.pc").parent)).split()


def compile_with(args, compiler, stage, *options, source=None):
    """Compiles app.c, or another, as pkg-config says, and runs it; returns the
    program."""
    app = fresh(args.work / "pkg-config") / "app"
    run(compiler, *args.flag, *STRICT, *options,
        source or args.here / "app.c", "-o", app,
        *pkg_config(stage, *args.pc_options, "--cflags", "--libs"))
    run(app, LD_LIBRARY_PATH=find(stage, "openpai.pc").parent.parent)
    return app


def case_pkg_config(args):
    if pkg_config(args.stage, "--modversion") != [args.version]:
        fail("openpai.pc has another version")
    libs = [flag for flag in pkg_config(args.stage, "--libs")
            if flag.startswith("-l")]
    if libs != ["-lopenpai"]:
        fail("a shared link needs no more than -lopenpai: %s" % libs)
    compile_with(args, args.cc, args.stage, "-std=c99")
    compile_with(args, args.cc, args.stage, "-std=c99",
                 source=args.source / "examples/sched.c")


def case_pkg_config_server(args):
    """The second library, which the first one does not ask for."""
    if pkg_config(args.stage, "--modversion",
                  package="openpai-server") != [args.version]:
        fail("openpai-server.pc has another version")
    app = fresh(args.work / "pkg-config-server") / "app"
    run(args.cc, *args.flag, *STRICT, "-std=c99", args.here / "server.c", "-o",
        app, *pkg_config(args.stage, "--cflags", "--libs",
                         package="openpai-server"))
    libs = find(args.stage, "openpai.pc").parent.parent
    run(app, LD_LIBRARY_PATH=libs)
    needed = output("ldd", find(args.stage, "libopenpai.so"),
                    LD_LIBRARY_PATH=str(libs))
    if "libopenpai-server" in needed:
        fail("libopenpai needs an HTTP server")


def case_pkg_config_static(args):
    """A tree with the static library alone."""
    stage = args.work / "stage-static"
    shutil.rmtree(stage, ignore_errors=True)
    shutil.copytree(args.stage, stage, symlinks=True)
    for shared in list(stage.rglob("*.so*")):
        shared.unlink()
    args.pc_options = ["--static"]
    app = compile_with(args, args.cc, stage, "-std=c99")
    if "libopenpai" in output("ldd", app):
        fail("linked with the shared library")


def cxx_compilers(args):
    """All that are here, with each standard they know."""
    for compiler in [args.cxx] if args.flag else dict.fromkeys(
            [args.cxx, shutil.which("g++"), shutil.which("clang++")]):
        for standard in CXX if compiler else ():
            if subprocess.run([compiler, "-std=" + standard, "-x", "c++",
                               "-fsyntax-only", "/dev/null"], check=False,
                              capture_output=True).returncode == 0:
                yield compiler, standard


def case_cxx(args):
    """C compiled as C++, and what is written as one writes C++."""
    if not args.cxx:
        skip("no C++ compiler")
    compile_with(args, args.cxx, args.stage, "-x", "c++", "-std=c++11")
    libs = find(args.stage, "openpai.pc").parent.parent
    app = fresh(args.work / "cxx") / "app"
    for compiler, standard in cxx_compilers(args):
        run(compiler, *args.flag, *STRICT, "-std=" + standard,
            args.here / "app.cc", "-o", app,
            *pkg_config(args.stage, "--cflags", "--libs",
                        package="openpai-server"))
        run(app, LD_LIBRARY_PATH=libs)


def cmake(args, project, *options, **env):
    build = fresh(args.work / project)
    flags = " ".join(args.flag + STRICT)
    run("cmake", "-G", "Ninja", "-S", args.here / project, "-B", build,
        "-DCMAKE_C_COMPILER=" + args.cc, "-DCMAKE_C_FLAGS=" + flags,
        "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=", *options, **env)
    run("cmake", "--build", build)
    for app in ("app", "app_static"):
        if (build / app).exists():
            run(build / app)


def case_find_package(args):
    options = ["-DCMAKE_PREFIX_PATH=%s" % args.stage,
               "-DOPENPAI_VERSION=" + args.version.rpartition(".")[0]]
    cmake(args, "find_package", *options)
    cmake(args, "find_package", *options, "-DWITHOUT_STATIC=ON",
          PKG_CONFIG_LIBDIR="/nowhere", PKG_CONFIG_PATH="")


def case_add_subdirectory(args):
    before = listing(args.source / "src")
    cmake(args, "add_subdirectory", "-DOPENPAI_SOURCE=%s" % args.source)
    if listing(args.source / "src") != before:
        fail("the source tree was written to")


def use_macros(text):
    """C that expands each PAI_X_INIT of a header for its type."""
    code = "typedef int not_empty;\n"
    for name in re.findall(r"^#define (PAI_\w+)_INIT\b", text, re.M):
        code += ("void use_{0}(void);\nvoid use_{0}(void)\n"
                 "{{ {0} x = {1}_INIT; (void)x; }}\n"
                 .format(name.lower(), name))
    return code


def case_headers(args):
    """Each public header alone and twice, as C99 and as C++11; and all of them
    together, by each compiler and standard of C++."""
    include = args.stage / "include"
    folder = fresh(args.work / "headers")
    umbrella = (include / "openpai/openpai.h").read_text()
    umbrella += (include / "openpai/resource.h").read_text()  # in it
    # libuv's own headers need POSIX types, which -std=c99 alone hides.
    outside = ["-D_POSIX_C_SOURCE=200809L",
               *output("pkg-config", "--cflags", "libuv", "jansson").split()]
    compilers = [(args.cc, "c", "c99")]
    compilers += [(args.cxx, "c++", "c++11")] if args.cxx else []
    for header in sorted((include / "openpai").glob("*.h")):
        text = header.read_text()
        line = "#include <openpai/%s>\n" % header.name
        needs = "#include <uv.h>" in text or "#include <jansson.h>" in text
        if header.name not in ("openpai.h", "server.h", "version.h") and \
                (line in umbrella) == needs:
            fail("openpai.h and %s" % header.name)
        (folder / "use.c").write_text(line + line + use_macros(text))
        for compiler, language, standard in compilers:
            run(compiler, "-x", language, "-std=" + standard, *STRICT,
                "-fsyntax-only", "-I%s" % include, *(outside if needs else []),
                folder / "use.c")
    headers = sorted((include / "openpai").glob("*.h"))
    (folder / "all.cc").write_text(
        "".join("#include <openpai/%s>\n" % path.name for path in headers) +
        use_macros("".join(path.read_text() for path in headers)))
    for compiler, standard in cxx_compilers(args):
        run(compiler, "-std=" + standard, *STRICT, "-Wold-style-cast",
            "-fsyntax-only", "-I%s" % include, *outside, folder / "all.cc")


def main():
    cases = {name[5:]: function for name, function in globals().items()
             if name.startswith("case_")}
    args = argparse.ArgumentParser()
    args.add_argument("case", choices=cases)
    args.add_argument("--source", required=True, type=pathlib.Path)
    args.add_argument("--build", required=True, type=pathlib.Path)
    args.add_argument("--work", required=True, type=pathlib.Path)
    args.add_argument("--version", required=True)
    args.add_argument("--cc", required=True)
    args.add_argument("--cxx", default="")
    args.add_argument("--flag", action="append", default=[])
    args = args.parse_args()
    args.here = pathlib.Path(__file__).resolve().parent
    args.stage = args.work / "stage"
    args.pc_options = []
    try:
        cases[args.case](args)
    except subprocess.CalledProcessError as error:
        fail("%s (exit %d)\n%s" % (error.cmd, error.returncode,
                                   error.stderr or ""))


if __name__ == "__main__":
    main()
