"""A parameter server and its workers: `ps.py server` keeps the weights, `ps.py
worker` pulls them, and pushes gradients of its own data whenever it has some.
"""
import json
import os
import random
import socket
import socketserver
import sys
import threading
import time

DIMENSIONS, SAMPLES, STEPS, RATE = 4, 32, 150, 0.1
TRUTH = [1.0, -2.0, 3.0, -4.0]

weights = [0.0] * DIMENSIONS
lock = threading.Lock()


class Worker(socketserver.StreamRequestHandler):
    """A line of JSON for each gradient; the answer is what the weights are."""

    def handle(self):
        for line in self.rfile:
            with lock:
                for d, g in enumerate(json.loads(line)):
                    weights[d] -= RATE * g
                answer = json.dumps(weights)
            self.wfile.write(answer.encode() + b"\n")


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


def address():
    """All tasks are told where each of them is."""
    return (os.environ["PAI_HOST_IP_ps_0"],
            int(os.environ["PAI_PORT_LIST_ps_0_weights"]))


def serve():
    with Server(address(), Worker) as server:
        print("weights are at port", server.server_address[1], flush=True)
        server.serve_forever()  # until the job is over


def work():
    rank = int(os.environ["PAI_TASK_INDEX"])
    chance = random.Random(rank)
    inputs = [[chance.gauss(0, 1) for _ in TRUTH] for _ in range(SAMPLES)]
    wanted = [sum(t * x for t, x in zip(TRUTH, row)) for row in inputs]
    gradient = [0.0] * DIMENSIONS
    with connect(address()) as server:
        for step in range(STEPS):
            server.write(json.dumps(gradient) + "\n")
            server.flush()
            now = json.loads(server.readline())
            errors = [sum(w * x for w, x in zip(now, row)) - y
                      for row, y in zip(inputs, wanted)]
            gradient = [sum(e * row[d] for e, row in zip(errors, inputs))
                        / SAMPLES for d in range(DIMENSIONS)]
            if step % 50 == 0:
                print(f"step {step}: loss {loss(errors):.3e}", flush=True)
    print(f"worker {rank}: loss {loss(errors):.3e}, weights",
          *(f"{w:.2f}" for w in now))


def loss(errors):
    return sum(e * e for e in errors) / SAMPLES


def connect(to):
    """The server may not have come up yet."""
    until = time.monotonic() + 60
    while True:
        try:
            return socket.create_connection(to).makefile("rw")
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


if __name__ == "__main__":
    {"server": serve, "worker": work}[sys.argv[1]]()
