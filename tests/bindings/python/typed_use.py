"""What a type checker knows of the Python module: it is checked, not run.

What is wrong on purpose says so with `type: ignore`; one that nothing is found
for is an error itself (warn_unused_ignores).
"""
from concurrent.futures import Future
from typing import Iterator, List, Optional

import openpai


def train(rate: float, steps: int = 100, *, name: str = "") -> List[float]:
    return [rate] * steps


def of_platform(platform: openpai.Platform, job: openpai.Job) -> None:
    handle = platform.call(train, 0.1, steps=3, gpu=1, memory="8G")
    losses: List[float] = handle.result(timeout=3)
    number: int = handle.result()  # type: ignore[assignment]
    wrong = handle.state == "runing"  # type: ignore[comparison-overlap]
    right = handle.status.state == "running" and wrong
    bad = handle.status.state == "Running"  # type: ignore[comparison-overlap]
    error: Optional[BaseException] = handle.exception()

    options = platform.options(gpu=1, time="2h", after=handle, tags=["a"])
    platform.options(gpus=1)  # type: ignore[call-arg]
    platform.options(priority="high")  # type: ignore[arg-type]
    typed: openpai.CallHandle[List[float]] = options.call(train, 0.1, name="x")
    options.call(train, 0.1, step=3)  # type: ignore[call-arg]
    options.call(train, "fast")  # type: ignore[arg-type]
    options.call(train)  # type: ignore[call-arg]

    results: Iterator[List[float]] = platform.map(train, [0.1], limit=2)
    platform.map(train, [0.1], limits=2)  # type: ignore[call-arg]
    first: openpai.CallHandle[List[float]] = next(
        platform.as_completed([handle, typed]))
    submitted = platform.submit(job, time="1m", after=[handle, "other"])
    platform.submit(job, tme="1m")  # type: ignore[call-arg]
    platform.submit(job, priority="urgent")  # type: ignore[arg-type]
    print(losses, number, right, bad, error, results, first, submitted)


def of_server(client: openpai.BlockingClient) -> None:
    call = client.call(train, 0.1)
    losses: List[float] = call.result()
    text: str = call.result()  # type: ignore[assignment]
    client.options(gpus=1)  # type: ignore[call-arg]
    client.options(code="src").call(train, stps=3)  # type: ignore[call-arg]
    results: Iterator[List[float]] = client.map(train, [0.1], limit=2)
    with client.executor(limit=2) as executor:
        future: "Future[List[float]]" = executor.submit(train, 0.1)
    client.executor(limits=2)  # type: ignore[call-arg]
    client.submit("job.yaml", nme="x")  # type: ignore[call-arg]
    print(losses, text, results, future)


async def of_asyncio(client: openpai.Client) -> None:
    call = await client.call(train, 0.1)
    losses: List[float] = await call.result()
    async for found in client.map(train, [0.1]):
        losses = found
    number: int = await call.result()  # type: ignore[assignment]
    await client.submit("job.yaml", tag="x")  # type: ignore[call-arg]
    result: openpai.Result = await call
    print(losses, number, result.state)
