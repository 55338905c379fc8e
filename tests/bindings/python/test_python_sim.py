"""What the Python module promises of traces and simulations.

Usage: test_python_sim.py ROOT [unittest's arguments]
"""
import csv
import io
import json
import os
import signal
import threading
import unittest
import unittest.mock

import openpai
from python_jobs import ROOT
from python_scenes import Greedy, cluster

SECOND = 10**6
DAY = 86400 * SECOND


def made(jobs=200, **more):
    return openpai.Trace.generate(jobs, seed=1, gpus=64, load=0.9, **more)


def small(nodes=4):
    return cluster("nodes:%d gpu:8:v100 cpus:64 mem:512G" % nodes)


class Traces(unittest.TestCase):
    RECORDS = [
        {"time": 0, "id": "a", "user": "ann", "gpus": 8,
         "duration": 90 * SECOND, "priority": 5, "retries": 2},
        {"time": 1500000, "id": "b", "after": ["a"], "limit": 60 * SECOND,
         "wants": [openpai.Want(tasks=2, gpus=4, type="v100"), {"cpus": 1}],
         "attempts": [openpai.Attempt(SECOND, 1), {"duration": 2 * SECOND}]},
        {"kind": "node", "time": 2 * SECOND, "node": "node0001",
         "state": "sick", "why": "fan"},
        {"kind": "kill", "time": 3 * SECOND, "id": "a"},
        '{"time":4,"gpus":1,"duration":0.000001}']

    def test_records(self):
        trace = openpai.Trace.of(self.RECORDS)
        a, b, node, kill, last = trace
        self.assertEqual((a.kind, a.line, a.time, a.id, a.user, a.priority,
                          a.retries, a.started),
                         ("job", 1, 0, "a", "ann", 5, 2, None))
        self.assertEqual(a.wants, (openpai.Want(gpus=8),))
        self.assertEqual(a.attempts, (openpai.Attempt(90 * SECOND),))
        self.assertEqual((b.time, b.after, b.limit, len(b.wants)),
                         (1500000, ("a",), 60 * SECOND, 2))
        self.assertEqual(b.attempts[0], openpai.Attempt(SECOND, code=1))
        self.assertEqual((node.kind, node.node, node.state, node.why),
                         ("node", "node0001", "sick", "fan"))
        self.assertEqual((kill.kind, kill.id, kill.time),
                         ("kill", "a", 3 * SECOND))
        self.assertEqual(last.attempts[0].duration, 1)
        self.assertEqual((trace.form, trace.jobs, trace.skipped,
                          trace.altered, trace.lines, trace.first,
                          trace.last), ("jsonl", 3, 0, 0, 5, 0, 4 * SECOND))

    def test_each_reading_begins_anew(self):
        trace = openpai.Trace.of(self.RECORDS)
        records = list(trace)
        self.assertEqual(list(trace), records)
        text = trace.to_jsonl()
        self.assertEqual(list(openpai.Trace.parse(text)), records)
        self.assertEqual(list(openpai.Trace.of(records)), records)
        self.assertEqual(list(openpai.Trace.parse(text.encode(), "jsonl")),
                         records)
        once = openpai.Trace.of(iter(records))
        self.assertEqual(list(once), records)
        with self.assertRaises(ValueError):
            list(once)

    def test_times_are_exact(self):
        """Also those of clocks that count from 1970."""
        times = [1777644306123457 + i for i in range(1000)]
        trace = openpai.Trace.of(
            {"time": time, "gpus": 1, "duration": 999999} for time in times)
        self.assertEqual([r.time for r in trace], times)

    def test_notes(self):
        text = '{"time":0,"duration":1}\n{"time":1,"duraton":1}\nx\n'
        told = []
        trace = openpai.Trace.parse(text, "jsonl", on_line=told.append)
        self.assertEqual(len(list(trace)), 1)
        self.assertEqual([(n.line, n.used) for n in told],
                         [(2, False), (3, False)])
        self.assertIn("duraton", told[0].why)
        self.assertEqual(trace.notes, tuple(told))
        self.assertEqual(trace.skipped, 2)
        self.assertIn("2 lines skipped", repr(trace))
        self.assertIn("duraton", trace._repr_html_())
        with self.assertRaises(openpai.InvalidError) as caught:
            list(openpai.Trace.parse(text, "jsonl", strict=True))
        self.assertEqual(caught.exception.line, 2)

        error = KeyError("mine")

        def fail(note):
            raise error
        with self.assertRaises(KeyError) as caught:
            list(openpai.Trace.parse(text, "jsonl", on_line=fail))
        self.assertIs(caught.exception, error)

    def test_what_records_raise(self):
        def records():
            yield {"time": 0, "gpus": 1, "duration": 5}
            raise ZeroDivisionError
        with self.assertRaises(ZeroDivisionError):
            list(openpai.Trace.of(records()))
        with self.assertRaises(openpai.InvalidError) as caught:
            list(openpai.Trace.of([{"time": 0, "durtion": 5}]))
        self.assertIn("durtion", str(caught.exception))

    def test_files(self):
        trace = made(virtual_clusters=["nlp", "vision"])
        path = ROOT / "made.jsonl"
        trace.write(path)
        read = openpai.Trace.load(path)
        self.assertEqual(read.to_jsonl(), trace.to_jsonl())
        self.assertEqual({r.vc for r in read}, {"nlp", "vision"})
        text, raw = io.StringIO(), io.BytesIO()
        trace.write(text), trace.write(raw)
        self.assertEqual(text.getvalue().encode(), raw.getvalue())
        self.assertEqual(text.getvalue(), path.read_text())
        with self.assertRaises(openpai.NoSuchFileError):
            openpai.Trace.load(ROOT / "no")
        with self.assertRaises(FileNotFoundError):
            openpai.simulate(small(), ROOT / "no")

    def test_wrong_arguments(self):
        for wrong in (lambda: openpai.Trace.parse("hello"),
                      lambda: openpai.Trace.parse("", "no"),
                      lambda: openpai.Trace.generate(like="nobody"),
                      lambda: openpai.Trace.generate(-1)):
            with self.assertRaises(openpai.InvalidError):
                wrong()
        for wrong in (openpai.Trace, lambda: openpai.Trace.parse(5),
                      lambda: openpai.Trace.of(5),
                      lambda: made().write(5)):
            with self.assertRaises(TypeError):
                wrong()


class Simulations(unittest.TestCase):
    def test_reports(self):
        trace, machines = made(faults=True), small()
        fifo = openpai.simulate(machines, trace)
        again = openpai.simulate(machines, trace, "fifo", seed=0)
        other = openpai.simulate(machines, trace, "backfill",
                                 {"place": "pack"}, seed=7)
        self.assertEqual(fifo.to_json(), again.to_json())
        self.assertEqual((fifo.policy, fifo.jobs, other.seed),
                         ("fifo", 200, 7))
        self.assertGreater(fifo.wait_mean, other.wait_mean)
        self.assertLess(0.01, fifo.utilization)
        self.assertGreater(1, fifo.utilization)
        read = openpai.SimReport.parse(fifo.to_json())
        self.assertEqual(read.to_json(), fifo.to_json())
        self.assertIn("fifo", str(fifo))
        self.assertIn("</html>", fifo.to_html())
        try:
            import matplotlib
        except ImportError:
            matplotlib = None
        if matplotlib:
            self.assertEqual(len(fifo.plot().axes), 3)
        with self.assertRaises(AttributeError):
            fifo.jobs = 5
        both = openpai.compare([fifo, other])
        self.assertEqual((len(both), both[1]), (2, other))
        rows = list(csv.DictReader(io.StringIO(both.to_csv())))
        self.assertEqual([row["policy"] for row in rows],
                         ["fifo", "backfill"])
        self.assertEqual(float(rows[0]["utilization"]), fifo.utilization)
        self.assertEqual(len(json.loads(both.to_json())["runs"]), 2)
        self.assertIn("2 simulations", str(both))
        for shown in fifo, both:
            self.check_notebook(shown)
        with self.assertRaises(ValueError):
            openpai.compare([])

    def check_notebook(self, shown):
        """A part of a page, which says the same as text and as JSON."""
        part, printer = shown._repr_html_(), unittest.mock.Mock()
        self.assertNotRegex(part, "</?(html|head|body)>")
        self.assertEqual(part.count('data-openpai="report"'), 1)
        text = str(shown).replace("&", "&amp;").replace("<", "&lt;")
        self.assertIn("<pre>%s\n</pre>" % text, part)
        data = part.partition('json">')[2].partition("</script>")[0]
        self.assertEqual(json.loads(data), json.loads(shown.to_json()))
        shown._repr_pretty_(printer, False)
        printer.text.assert_called_once_with(str(shown))

    def test_policies_of_ours(self):
        report = openpai.simulate(small(), made(), Greedy)
        self.assertEqual((report.policy, report.left), ("Greedy", 0))

        class Bad:
            def decide(self, host):
                raise ZeroDivisionError
        with self.assertRaises(ZeroDivisionError):
            openpai.simulate(small(), made(), Bad())

    def test_options(self):
        trace, machines = made(), small()
        plain = openpai.simulate(machines, trace)
        for option, value in (
                ("start_cost", 60 * SECOND), ("stretch", 2.0),
                ("spread", 0.5), ("fail", 0.5), ("patience", SECOND),
                ("until", DAY), ("node_up", DAY)):
            report = openpai.simulate(machines, trace, **{option: value})
            self.assertNotEqual(report.to_json(), plain.to_json(), option)
        self.assertGreater(
            openpai.simulate(machines, trace, fail=0.5).failed, 50)
        with self.assertRaises(openpai.InvalidError) as caught:
            openpai.simulate(small(1), openpai.Trace.of(
                [{"time": 0, "gpus": 1, "vc": "no", "duration": 1}]),
                strict=True)
        self.assertEqual(str(caught.exception), "line 1: "
                         "there is no virtual cluster 'no'")
        with self.assertRaises(openpai.NotFoundError):
            openpai.simulate(machines, trace, "no")
        with self.assertRaises(TypeError):
            openpai.simulate(machines, trace, sed=5)
        with self.assertRaises(TypeError):
            openpai.simulate("nodes:1", trace)

    def test_callbacks(self):
        jobs, notes = [], []
        log, events = io.StringIO(), ROOT / "events.jsonl"
        report = openpai.simulate(
            small(1), made(), on_job=jobs.append, on_line=notes.append,
            log=log, events=events)
        self.assertEqual(len(jobs), report.jobs)
        self.assertEqual(sum(j.state == "rejected" for j in jobs),
                         report.rejected)
        self.assertEqual(sum(j.ended is not None for j in jobs),
                         report.finished + report.killed)
        self.assertGreater(len(notes), 0)
        with open(events, encoding="utf-8") as lines:
            self.assertEqual(json.loads(next(lines))["event"], "submitted")
        begun = [d for d in openpai.Scheduler.replay(
            log.getvalue().splitlines()) if d.kind == "start"]
        self.assertGreaterEqual(len(begun), report.started)

    def test_what_callbacks_raise(self):
        error = KeyError("mine")

        class Failing:
            def write(self, text):
                raise error

        def fail(told):
            raise error
        for given in ({"on_job": fail}, {"on_line": fail},
                      {"log": Failing()}, {"events": Failing()}):
            with self.assertRaises(KeyError) as caught:
                openpai.simulate(small(1), made(), **given)
            self.assertIs(caught.exception, error)

    def test_steps(self):
        trace, machines = made(), small()
        whole = openpai.simulate(machines, trace)
        with openpai.Simulation(machines, trace) as simulation:
            steps = 0
            while simulation.step(simulation.now + DAY):
                steps += 1
                self.assertEqual(simulation.now, steps * DAY)
            self.assertGreater(steps, 5)
            self.assertEqual(simulation.report().to_json(), whole.to_json())

    def test_looking(self):
        simulation = openpai.Simulation(small(), made())
        simulation.step(2 * DAY)
        view = simulation.scheduler
        before = view.sums
        fork = view.fork()
        fork.submit(9999, gpus=1)
        fork.decide()
        self.assertEqual(view.sums, before)
        self.assertFalse(hasattr(view, "decide"))
        with self.assertRaises(openpai.UnsupportedError):
            view._sched.decide(view.now)
        seen = []

        def look(job):
            with self.assertRaises(openpai.InvalidError):
                seen.append(other.scheduler.sums)
            with self.assertRaises(openpai.BusyError):
                other.step()
        other = openpai.Simulation(small(), made(3), on_job=look)
        other.run()
        self.assertEqual(seen, [])
        del simulation
        self.assertEqual(view.sums, before)  # it is kept as long

    def test_one_thread_at_a_time(self):
        raised = []

        def look(job):
            def work():
                try:
                    simulation.step()
                except openpai.BusyError as error:
                    raised.append(error)
            if not raised:
                thread = threading.Thread(target=work)
                thread.start()
                thread.join()
        simulation = openpai.Simulation(small(), made(), on_job=look)
        simulation.run()
        self.assertEqual(len(raised), 1)

    def test_interrupt(self):
        """Ctrl-C ends it, though nothing calls back."""
        simulation = openpai.Simulation(
            small(64), openpai.Trace.generate(10**6, gpus=512))
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            simulation.run()
        timer.join()
        self.assertGreater(simulation.report().jobs, 0)
