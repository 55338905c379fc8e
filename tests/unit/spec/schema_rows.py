"""Validates real job files with our JSON Schema and another's validator.

Usage: schema_rows.py PROGRAM, the program being schema_rows.  What the schema
takes must be what OpenPAI's own server took: wrong references, sums and
templates aside, which no schema can tell.
"""
import json
import os
import pathlib
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: no jsonschema for Python (Debian: python3-jsonschema)")
    sys.exit(77)

SHARED = pathlib.Path(os.environ.get("OPENPAI_SHARED") or
                      pathlib.Path(__file__).parents[4] / "shared")

# As in test_cases.c: taskRoles that is no mapping, taken and then crashed on.
EXCEPTIONS = """
chainer-cifar-5888#9 chainer-cifar-b041#16
cifar10-single-mul-DDP-gloo-Apex-mixed-f4fd#20 cifar10_resnet20_1gpu-4ef7#0
cifar10_vgg16_tf_cpu-cccb#9 docker_image_local_registry-a3e1#6
itc-intra-lazy-preempt-prod-9640#13 pytorch-regression-4d11#16
v014-pytorch-regression#21 examples_mpi_cntk-mpi.json
""".split()

def output(*args):
    done = subprocess.run(args, stdout=subprocess.PIPE, check=False)
    if done.returncode == 77:
        print(done.stdout.decode().splitlines()[-1])
        sys.exit(77)
    done.check_returncode()
    return done.stdout


def is_beyond_schemas(row):
    """Whether the server refused it for what no schema can tell."""
    errors = row.get("errors")
    if row["verdict"] == "error":
        return True  # a template, or a crash
    return isinstance(errors, str)


def compare(program, version):
    schema = json.loads(output(program, "schema", str(version)))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    rows = output(program, "rows", str(version)).splitlines()
    cases = SHARED / "data" / "specs" / ("v%d-cases.jsonl" % version)
    verdicts = {}
    for line in cases.open(encoding="utf-8"):
        row = json.loads(line)
        verdicts[row["id"]] = row
    compared, wrong = 0, []
    for line in rows:
        ours = json.loads(line)
        row = verdicts[ours["id"]]
        taken = validator.is_valid(ours["file"])
        if ours["ours"] and not taken:
            wrong.append((ours["id"], "we take it, the schema does not",
                          [e.message for e in
                           validator.iter_errors(ours["file"])]))
        if ours["id"] in EXCEPTIONS or is_beyond_schemas(row):
            continue
        compared += 1
        if taken != (row["verdict"] == "valid"):
            wrong.append((ours["id"], row["verdict"], row.get("errors")))
    return compared, wrong


def numbers(program):
    """Texts that v1 takes for whole numbers, and others."""
    schema = json.loads(output(program, "schema", "1"))
    roles = schema["properties"]["taskRoles"]["items"]["properties"]
    fields = {"retryCount": schema["properties"]["retryCount"], **roles}
    wrong = 0
    for field, taken, refused in (
            ("retryCount", "0 -2 +3 -0 007 2.0 2. -1.0", "-3 -10 2.5 x 1-"),
            ("minFailedTaskCount", "1 10 +2 09 1.00", "0 -1 00 0.0 1.5 1x"),
            ("shmMB", "0 -5 +5 5.0 12345", "5.1 .x five 0x10")):
        validator = jsonschema.Draft7Validator(fields[field])
        for text in taken.split() + [" 2 "]:
            wrong += not validator.is_valid(text)
        for text in refused.split() + ["", " ", "2 2"]:
            wrong += validator.is_valid(text)
    print("texts for numbers: %d wrong" % wrong)
    return wrong > 0


def main():
    failed = numbers(sys.argv[1])
    for version, least in ((2, 1600), (1, 500)):
        compared, wrong = compare(sys.argv[1], version)
        print("version %d: %d files, %d wrong" % (version, compared,
                                                  len(wrong)))
        for each in wrong:
            print(" ", *each)
        failed = failed or bool(wrong) or compared < least
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
