"""Trains a linear model on four tasks at once: each has its own part of the
data, and their gradients are averaged in a ring, as NCCL and Horovod do it.

Which tasks there are, and where, is in the environment that OpenPAI sets.
"""
import array
import os
import random
import socket
import time

DIMENSIONS, SAMPLES, STEPS, RATE = 8, 64, 200, 0.1

# --- the ring --------------------------------------------------------------

# All tasks of the job, in an order that each of them sees: "left:0,left:1,..."
tasks = [task.split(":")
         for task in os.environ["PAI_TASK_ROLE_INSTANCES"].split(",")]
size = len(tasks)
rank = tasks.index([os.environ["PAI_CURRENT_TASK_ROLE_NAME"],
                    os.environ["PAI_TASK_INDEX"]])


def address(role, index):
    ports = os.environ[f"PAI_PORT_LIST_{role}_{index}_ring"]
    return os.environ[f"PAI_HOST_IP_{role}_{index}"], int(ports.split(",")[0])


def connect(to):
    """To a task that may not have come up yet."""
    until = time.monotonic() + 60
    while True:
        try:
            return socket.create_connection(to)
        except ConnectionRefusedError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


with socket.create_server(address(*tasks[rank])) as listener:
    following = connect(address(*tasks[(rank + 1) % size]))
    previous, _ = listener.accept()


def swap(numbers):
    """Hands some on, and takes as many from the task before."""
    sent = array.array("d", numbers).tobytes()
    following.sendall(sent)  # few enough for the socket to keep them
    got = b""
    while len(got) < len(sent):
        more = previous.recv(len(sent) - len(got))
        if not more:
            raise ConnectionError("the task before has gone")
        got += more
    return array.array("d", got)


def all_reduce(values):
    """The sum of the values of all tasks; all get the same bits."""
    width = -(-len(values) // size)
    parts = [values[i * width:(i + 1) * width] + [0.0] * width
             for i in range(size)]
    parts = [part[:width] for part in parts]
    for step in range(size - 1):  # each part goes round, and grows
        given, taken = (rank - step) % size, (rank - step - 1) % size
        got = swap(parts[given])
        parts[taken] = [a + b for a, b in zip(parts[taken], got)]
    for step in range(size - 1):  # and goes round again, whole
        given, taken = (rank + 1 - step) % size, (rank - step) % size
        parts[taken] = list(swap(parts[given]))
    return [value for part in parts for value in part][:len(values)]


# --- the model -------------------------------------------------------------

truth = [float(i - 3) for i in range(DIMENSIONS)]
chance = random.Random(rank)
inputs = [[chance.gauss(0, 1) for _ in truth] for _ in range(SAMPLES)]
wanted = [sum(t * x for t, x in zip(truth, row)) for row in inputs]
weights = [0.0] * DIMENSIONS

for step in range(STEPS + 1):
    errors = [sum(w * x for w, x in zip(weights, row)) - y
              for row, y in zip(inputs, wanted)]
    gradient = [sum(e * row[d] for e, row in zip(errors, inputs)) / SAMPLES
                for d in range(DIMENSIONS)]
    loss = sum(e * e for e in errors) / SAMPLES
    *gradient, loss = [v / size for v in all_reduce([*gradient, loss])]
    if step % 50 == 0 and rank == 0:
        print(f"step {step}: loss {loss:.3e}", flush=True)
    if step < STEPS:
        weights = [w - RATE * g for w, g in zip(weights, gradient)]

print(f"rank {rank} of {size}: loss {loss!r}, weights",
      *(f"{w:.3f}" for w in weights))
