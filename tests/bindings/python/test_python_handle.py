"""What the Python module promises of jobs on record: handles, logs, asyncio.

Usage: test_python_handle.py ROOT [unittest's arguments]
"""
import asyncio
import datetime
import gc
import json
import os
import resource
import threading
import unittest
from unittest import mock

import openpai
from python_jobs import ROOT, SLEEP, is_alive, job, new_root, text

gc.set_threshold(100)


def gate(root):
    """A FIFO, and a command that waits until open_gate() was called on it."""
    path = root / "gate"
    os.mkfifo(path)
    return path, "read word < %s" % path


def open_gate(path):
    path.write_text("go\n")


class Handles(unittest.TestCase):
    def setUp(self):
        self.root = new_root()
        self.platform = openpai.Platform(root=self.root)
        self.addCleanup(self.platform.close)

    def test_life(self):
        path, waits = gate(self.root)
        handle = self.platform.submit(job(
            "d=$(dirname $RUNTIME_LOG_PIPE)", "mkdir $d/ssh $d/../ssh",
            "echo ssh-ed25519 AAAA > $d/ssh/host_key.pub",
            "echo secret > $d/../ssh/key", "echo one; echo two >&2", waits,
            "exit 3", name="life"))
        lines = handle.logs(follow=True)
        self.assertEqual(sorted([next(lines), next(lines)]), ["one", "two"])
        told = handle.ssh()
        self.assertEqual(told["containers"][0]["hostKey"], "ssh-ed25519 AAAA")
        self.assertIsNone(told["publicKey"])
        self.assertEqual(handle.ssh_key(), "secret\n")
        self.assertEqual((handle.state, handle.code), ("running", None))
        self.assertFalse(handle.is_over)
        self.assertEqual(handle.name.split("~")[1], "life")
        self.assertEqual(handle.status.tasks[0].name, "main/0")
        self.assertIsNone(handle.status.ended)
        open_gate(path)
        self.assertEqual(list(lines), [])
        self.assertEqual(handle.wait(), ("failed", 3))
        status = handle.status
        self.assertTrue(status.is_over and status.ended >= status.started)
        self.assertEqual((status.code, status.attempt, status.retries),
                         (255, 0, 0))
        self.assertIn("MinFailed", str(handle.why()))
        for ask in handle.ssh, handle.ssh_key:
            self.assertRaises(openpai.NotFoundError, ask)
        self.assertEqual(handle.why().state, "failed")
        self.assertIsNone(handle.why().line)  # it waits for nothing
        self.assertIn("Warning", {event.type for event in handle.events()})
        self.assertEqual(handle.logs(name="stderr").read(), "two\n")
        self.assertIn("name: life", handle.config().replace('"', ""))
        self.assertEqual(handle.status, handle.show(0))
        with self.assertRaises(LookupError):
            handle.show(7)

    def test_lines(self):
        handle = self.platform.submit(job(
            "printf 'a\\n\\nb\\xff\\nno end'"))
        self.assertEqual(list(handle.logs(follow=True)),
                         ["a", "", "b\ufffd", "no end"])
        self.assertEqual(handle.logs().read(), "a\n\nb\ufffd\nno end")
        self.assertEqual("".join(handle.logs().pieces()),
                         "a\n\nb\ufffd\nno end")
        self.assertEqual(handle.logs(tail=2).read(), "b\ufffd\nno end")
        self.assertEqual(handle.logs(tail=0).read(), "")
        hour = datetime.timedelta(hours=1)
        self.assertEqual(handle.logs(tail=1, since=hour).read(), "no end")
        self.assertEqual(handle.logs(
            since=datetime.datetime.now() + hour).read(), "")
        with self.assertRaisesRegex(openpai.InvalidError, "since"):
            handle.logs(since=-hour)
        with self.assertRaises(LookupError):
            handle.logs("nobody/0")
        with self.assertRaises(LookupError):
            handle.logs("main/9")
        with self.assertRaises(ValueError):
            handle.logs("main/first")

    def test_much(self):
        """More than is kept for who does not read; and who stops reading."""
        handle = self.platform.submit(job(
            "i=0; while [ $i -lt 30 ]; do head -c 65535 /dev/zero | tr '\\0' x;"
            " echo; i=$((i + 1)); done"))
        lines = list(handle.logs(follow=True))
        self.assertEqual([len(line) for line in lines], [65535] * 30)
        reader = handle.logs()
        next(reader)
        reader.close()
        self.assertEqual(list(reader), [])

    def test_tried_again(self):
        """Followed lines go on when a task, or its job, is tried again."""
        mark = self.root / "mark"
        again = json.loads(text("echo run; test -e %s || { touch %s; exit 1; }"
                                % (mark, mark), name="again"))
        again["taskRoles"]["main"]["taskRetryCount"] = 1
        again["extras"]["gangAllocation"] = False
        handle = self.platform.submit(openpai.Job.parse(json.dumps(again)))
        self.assertEqual(list(handle.logs(follow=True)), ["run", "run"])
        self.assertTrue(handle.wait().succeeded)
        mark.unlink()
        del again["extras"]["gangAllocation"]
        del again["taskRoles"]["main"]["taskRetryCount"]
        again["jobRetryCount"] = 1
        handle = self.platform.submit(openpai.Job.parse(json.dumps(again)))
        self.assertEqual(list(handle.logs(follow=True)), ["run", "run"])
        self.assertTrue(handle.wait().succeeded)

    def test_stop(self):
        handle = self.platform.submit(job(*SLEEP))
        number = int(next(handle.logs(follow=True)))
        handle.stop()
        self.assertEqual(handle.wait(timeout=60).state, "stopped")
        self.assertFalse(is_alive(number))
        with self.assertRaises(LookupError):
            handle.stop()
        handle.forget()
        with self.assertRaises(LookupError):
            self.platform.job(handle.id)

    def test_exec(self):
        async def scene():
            done = await handle.exec("cat", input=b"x")
            hangs = asyncio.ensure_future(wait_for(handle.exec("sleep 1000")))
            await asyncio.sleep(0)
            hangs.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await hangs
            return done

        async def wait_for(execution):
            return await execution

        handle = self.platform.submit(job(*SLEEP))
        next(handle.logs(follow=True))
        running = handle.exec(["sh", "-c", "echo a; echo b >&2; exit 3"])
        self.assertEqual(running.wait(), (3, b"a\n", b"b\n", "exit", ""))
        self.assertEqual(running.wait().stderr, "b\n")
        self.assertEqual(asyncio.run(scene()).output, b"x")
        slow = handle.exec("sleep 1000", "main/0")
        with self.assertRaises(TimeoutError):
            slow.wait(0.2)
        slow.close()
        with self.assertRaises(openpai.CanceledError):
            slow.wait()
        with self.assertRaises(openpai.NotFoundError):
            handle.exec("true", "main/7")
        left = handle.exec("sleep 1000")  # ends with the platform
        lost = handle.exec("sleep 1000")
        del lost
        handle.stop()
        # It may be so early that there is no way in any more.
        self.assertIn(left.wait().code, (126, 137, 143))
        handle.wait()
        with self.assertRaises(openpai.NotFoundError):
            handle.exec("true")

    def test_exec_closed_before_it_began(self):
        busy = openpai.BusyError("the task is not ready")
        busy.retriable = True
        platform = mock.Mock()
        platform._platform.enter.side_effect = [busy, mock.Mock()]
        early = openpai._exec.Execution(platform, 1, b"", b"", b"")
        early.close()
        with self.assertRaises(openpai.CanceledError):
            early.wait()
        with self.assertRaises(openpai.CanceledError):
            asyncio.run(early._ended())
        self.assertEqual(platform._platform.enter.call_count, 1)

    def test_exec_forgotten_by_another_thread(self):
        """Who forgets one waits for who runs the platform, and that one for
        the interpreter."""
        def noted(platform, most_ms):
            steps.set()
            return step(platform, most_ms)

        def until_it_runs():
            steps.clear()
            steps.wait(10)

        def forget():
            for execution in closed:
                until_it_runs()
                left.pop()  # the last reference
                until_it_runs()
                execution.close()

        steps, step = threading.Event(), openpai.Platform._step
        handle = self.platform.submit(job(*SLEEP))
        next(handle.logs(follow=True))
        left = [handle.exec("sleep 1000") for _ in range(3)]
        closed = [handle.exec("sleep 1000") for _ in range(3)]
        running = handle.exec("sleep 3")
        forgets = threading.Thread(target=forget)
        with mock.patch.object(openpai.Platform, "_step", noted):
            forgets.start()
            self.assertEqual(running.wait().code, 0)
            steps.set()
        forgets.join()

    def test_exec_ends_with_the_platform(self):
        handle = self.platform.submit(job(*SLEEP))
        next(handle.logs(follow=True))
        running = handle.exec("sleep 1000")
        self.platform.close()
        # As above: it may be so early that there is no way in any more.
        self.assertIn(running.wait().code, (126, 137, 143))

    def test_timeout(self):
        handle = self.platform.submit(job(*SLEEP))
        with self.assertRaises(TimeoutError):
            handle.wait(timeout=0.01)
        handle.stop(now=True)
        self.assertEqual(handle.wait().state, "stopped")

    def test_lists(self):
        first = self.platform.submit(job("exit 0", name="first"))
        second = self.platform.submit(job("exit 1", name="second"))
        first.wait()
        second.wait()
        first.tag("good")
        jobs = self.platform.jobs()
        self.assertEqual([item.name for item in jobs], ["second", "first"])
        self.assertEqual(jobs[1].handle, first)
        self.assertEqual(hash(jobs[1].handle), hash(first))
        names = [[item.name for item in self.platform.jobs(**query)]
                 for query in (
                     {"state": "failed"}, {"state": ["failed", "succeeded"]},
                     {"tag": "good"}, {"keyword": "seco"}, {"user": "nobody"},
                     {"limit": 1}, {"offset": 1},
                     {"order": "submissionTime,ASC"})]
        self.assertEqual(names, [
            ["second"], ["second", "first"], ["first"], ["second"], [],
            ["second"], ["first"], ["first", "second"]])
        self.assertIn("second", str(jobs))
        self.assertIn("<td", jobs._repr_html_())
        self.assertIn("no jobs", str(self.platform.jobs(user="nobody")))
        first.untag("good")
        self.assertEqual(first.status.tags, ())
        with self.assertRaises(openpai.ExistsError):
            self.platform.submit(job("true"), name="first")
        for name in ("first_2", "first_3"):
            handle = self.platform.submit(job("true", name="first"))
            self.assertEqual(handle.status.name, name)
            handle.wait()
        self.platform.submit(job("true", name="first"), name="third").wait()
        self.assertEqual(self.platform.job("third").status.name, "third")
        with self.assertRaises(LookupError):
            self.platform.job("nobody~third")

    def test_care(self):
        handle = self.platform.submit(job("true", name="kept"))
        handle.wait()
        self.platform.backup(self.root / "copy.db")
        self.assertTrue((self.root / "copy.db").read_bytes().startswith(
            b"SQLite format 3"))
        self.platform.export(self.root / "all.jsonl")
        told = [json.loads(line) for line in
                (self.root / "all.jsonl").read_text().splitlines()]
        self.assertIn("kept", json.dumps(told))
        with self.assertRaises(OSError) as caught:
            self.platform.export(self.root / "no" / "such")
        self.assertIn("such", caught.exception.filename)
        self.assertEqual(self.platform.status["root"], str(self.root))
        self.assertEqual(json.loads(
            self.platform.scheduler().save())["policy"]["name"], "fifo")
        with self.assertRaises(openpai.BusyError):
            openpai.repair(self.root)

    def test_cards(self):
        handle = self.platform.submit(job("exit 9", name="b"))
        handle.wait()
        card = handle._repr_html_()
        self.assertIn("failed", card)
        self.assertIn("main/0", card)
        self.assertIn("failed", handle.status._repr_html_())
        self.assertIn("failed", repr(handle))

    def test_rescale(self):
        handle = self.platform.submit(job(*SLEEP, name="more"))
        next(handle.logs(follow=True))
        handle.rescale("main", 2)
        while len(handle.status.tasks) < 2:  # it is told a commit later
            self.platform._step(-1)
        next(handle.logs("main/1", follow=True))
        self.assertEqual(len(handle.status.tasks), 2)
        with self.assertRaises(LookupError):
            handle.rescale("nobody", 2)
        handle.stop(now=True)
        handle.wait()

    def test_code(self):
        """A job's own folder of code."""
        code = self.root / "code" / "mine"
        code.mkdir(parents=True)
        (code / "hello").write_text("from the code\n")
        handle = self.platform.submit(job("cat hello"), code=code)
        self.assertEqual(handle.logs(follow=True).read(), "from the code\n")
        self.assertFalse(code.exists())


class Restarts(unittest.TestCase):
    def test_leave(self):
        """Who leaves a platform finds its jobs again, and what they said."""
        root = new_root()
        path, waits = gate(root)
        with openpai.Platform(root=root) as platform:
            platform.submit(job("echo before", waits, "echo after",
                                name="stays"))
            self.assertEqual(next(platform.job("stays").logs(follow=True)),
                             "before")
            with self.assertRaises(openpai.BusyError):
                openpai.Platform(root=root)
            platform.leave()
        open_gate(path)
        with openpai.Platform(root=root) as platform:
            handle = platform.job("stays")
            self.assertEqual(handle.wait(), ("succeeded", 0))
            self.assertEqual(handle.logs().read(), "before\nafter\n")

    def test_closed(self):
        platform = openpai.Platform(root=new_root())
        handle = platform.submit(job(*SLEEP))
        lines = handle.logs(follow=True)
        next(lines)
        platform.close()
        with self.assertRaises(openpai.Error):
            next(lines)
        for call in (handle.show, handle.why, handle.logs, handle.wait):
            with self.assertRaises(openpai.InvalidError):
                call()
        self.assertIn("openpai.Handle", repr(handle))

    def test_not_kept(self):
        """A platform that keeps no records says so."""
        with openpai.Platform(root=new_root(), durable=False) as platform:
            handle = platform.submit(job("true"))
            self.assertTrue(handle.wait().succeeded)
            for call in (handle.show, handle.why, handle.config,
                         platform.jobs):
                with self.assertRaises(openpai.UnsupportedError):
                    call()


class Loops(unittest.TestCase):
    def test_many(self):
        async def follow(handle):
            return [line async for line in handle.logs(follow=True)]

        async def everything():
            async with openpai.Platform(root=new_root()) as platform:
                handles = [platform.submit(job("echo %d" % i), name="j%d" % i)
                           for i in range(5)]
                lines = [asyncio.ensure_future(follow(handle))
                         for handle in handles]
                results = await asyncio.gather(*handles)
                return results, await asyncio.gather(*lines)

        results, lines = asyncio.run(everything())
        self.assertEqual(results, [("succeeded", 0)] * 5)
        self.assertEqual(lines, [[str(i)] for i in range(5)])

    def test_nobody_waits(self):
        """attach(): jobs go on although nobody awaits one."""
        async def everything():
            root = new_root()
            platform = openpai.Platform(root=root)
            platform.attach()
            path, waits = gate(root)
            handle = platform.submit(job(waits))
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, open_gate, path)
            result = await handle
            platform.close()
            return result

        self.assertTrue(asyncio.run(everything()).succeeded)

    def test_timeout(self):
        """A wait that is given up leaves the job, and the loop, alone."""
        async def everything():
            async with openpai.Platform(root=new_root()) as platform:
                handle = platform.submit(job(*SLEEP))
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(handle._ended(), 0.01)
                handle.stop(now=True)
                return await handle

        self.assertEqual(asyncio.run(everything()).state, "stopped")

    def test_closed(self):
        """Whoever waits hears that the platform was closed."""
        async def everything():
            root = new_root()
            platform = openpai.Platform(root=root)
            handle = platform.submit(job(*SLEEP))
            waits = asyncio.ensure_future(handle._ended())
            await asyncio.sleep(0)
            platform.leave()
            with self.assertRaises(openpai.InvalidError):
                await waits
            with openpai.Platform(root=root) as again:
                again.job(handle.id).stop(now=True)

        asyncio.run(everything())

    def test_callback_raises(self):
        """What on_event raises comes out of an await as it is."""
        mine, times = RuntimeError("mine"), iter([True])

        def fail(event):
            if next(times, False):
                raise mine

        async def everything():
            async with openpai.Platform(root=new_root(),
                                        on_event=fail) as platform:
                with self.assertRaises(RuntimeError) as caught:
                    await platform.submit(job(*SLEEP))
                self.assertIs(caught.exception, mine)

        asyncio.run(everything())

    def test_two_loops(self):
        """A loop that is gone is forgotten."""
        root = new_root()
        platform = openpai.Platform(root=root)

        async def one(command):
            return await platform.submit(job(command), name="n" + command[-1])

        self.assertTrue(asyncio.run(one("exit 0")).succeeded)
        self.assertFalse(asyncio.run(one("exit 1")).succeeded)
        platform.close()

    def test_submit(self):
        """The loop goes on while the disk writes."""
        async def everything():
            turns = []
            asyncio.get_running_loop().call_soon(turns.append, 1)
            first = await platform.submit_async(job("exit 3", name="a"))
            self.assertTrue(turns)
            self.assertEqual(platform.job("a"), first)
            with self.assertRaises(openpai.ExistsError):
                await platform.submit_async(job("true"), name="a")
            more = await asyncio.gather(*[
                platform.submit_async(job("true", name="a"))
                for _ in range(20)])
            self.assertEqual(
                {handle.name.split("~")[1] for handle in more},
                {"a_%d" % number for number in range(2, 22)})
            self.assertEqual(await first, ("failed", 3))
            self.assertTrue(all([(await h).succeeded for h in more]))

        for durable in True, False:
            with openpai.Platform(root=new_root(), durable=durable
                                  ) as platform:
                if durable:
                    asyncio.run(everything())
                else:
                    self.assertTrue(asyncio.run(
                        platform.submit_async(job("true"))).wait().succeeded)

    def test_submit_to_a_full_disk(self):
        """It is not taken, and does not keep close() from ending."""
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        for submit in (lambda p: p.submit(job("true")),
                       lambda p: asyncio.run(p.submit_async(job("true")))):
            with openpai.Platform(root=new_root()) as platform:
                self.assertTrue(platform.submit(job("true")).wait().succeeded)
                resource.setrlimit(resource.RLIMIT_FSIZE, (1, hard))
                try:  # in which nothing may be printed
                    submit(platform)
                except openpai.IoError as error:
                    told = str(error)
                finally:
                    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
                self.assertIn("the disk is full", told)
                self.assertEqual(len(platform.jobs()), 1)

    def test_loop_closed_while_awaited(self):
        """Who waited on it is forgotten; others are not disturbed."""
        with openpai.Platform(root=new_root()) as platform:
            handle = platform.submit(job("echo x", *SLEEP))

            async def follow():
                async for line in handle.logs(follow=True):
                    pass

            async def end():
                return await handle

            loop = asyncio.new_event_loop()
            loop.set_exception_handler(lambda *_: None)  # tasks are pending
            tasks = [loop.create_task(wait()) for wait in (follow, end)]
            loop.run_until_complete(asyncio.sleep(0))
            loop.close()

            async def stop():
                first = await handle.logs(follow=True).__anext__()
                waits = asyncio.ensure_future(end())
                await asyncio.sleep(0)
                tasks.clear()
                gc.collect()
                handle.stop(now=True)
                return first, await asyncio.wait_for(waits, 60)

            first, result = asyncio.run(stop())
            self.assertEqual((first, result.state), ("x", "stopped"))
            loop = asyncio.new_event_loop()
            loop.set_exception_handler(lambda *_: None)
            handle = platform.submit(job(*SLEEP, name="other"))
            tasks.append(loop.create_task(end()))
            loop.run_until_complete(asyncio.sleep(0))
            loop.close()
        self.assertTrue(platform.closed)

    def test_callback_raises_stop_iteration(self):
        def fail(event):
            if next(times, False):
                next(iter(()))

        async def everything():
            with openpai.Platform(root=new_root(),
                                  on_event=fail) as platform:
                with self.assertRaises(RuntimeError) as caught:
                    await platform.submit(job(*SLEEP))
                self.assertIsInstance(caught.exception.__cause__,
                                      StopIteration)

        times = iter([True])
        asyncio.run(asyncio.wait_for(everything(), 60))
