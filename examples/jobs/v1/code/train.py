"""What tf_cnn_benchmarks.py is to the tutorial: it finds its server and counts.
"""
import argparse
import os
import pathlib
import socket
import time

parser = argparse.ArgumentParser()
for name in ("job_name", "ps_hosts", "worker_hosts"):
    parser.add_argument(f"--{name}")
parser.add_argument("--task_index", type=int)
parser.add_argument("--steps", type=int)
args = parser.parse_args()

host, _, port = args.ps_hosts.partition(":")
server = host, int(port)
if args.job_name == "ps":
    print("data are in", os.environ["PAI_DATA_DIR"], flush=True)
    with socket.create_server(server) as listener:
        while True:  # until the job is over
            listener.accept()[0].close()
for step in range(args.steps):
    while True:
        try:
            socket.create_connection(server).close()
            break
        except ConnectionRefusedError:
            time.sleep(0.05)  # it is not up yet
    print("step", step, flush=True)
model = pathlib.Path(os.environ["PAI_OUTPUT_DIR"], "model")
model.write_text(f"{args.steps} steps\n")
print("the model is", model)
