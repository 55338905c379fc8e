"""What simulations of the Python module free again: all.

Usage: test_python_sim_leaks.py ROOT [unittest's arguments]
"""
import io
import json

import openpai
import python_jobs  # runs the tests
from python_leaks import Checked
from python_scenes import Greedy


class Failing:
    def __call__(self, told):
        raise KeyError

    def write(self, text):
        raise KeyError


def tried(*calls):
    for wrong in calls:
        try:
            wrong()
        except (KeyError, TypeError, openpai.Error):
            pass


class Leaks(Checked):
    def test_traces(self):
        def work():
            trace = openpai.Trace.generate(3, seed=1, gpus=16)
            records = list(trace)
            list(openpai.Trace.of(records)), trace.notes, repr(trace)
            text = trace.to_jsonl() + "x\n"
            openpai.Trace.parse(text).write(io.StringIO())
            tried(lambda: list(openpai.Trace.parse(text, strict=True)),
                  lambda: list(openpai.Trace.parse(text,
                                                   on_line=Failing())),
                  lambda: openpai.Trace.parse(text, "no"),
                  lambda: list(openpai.Trace.of([{"x": 5}])))
            next(iter(openpai.Trace.parse(text)))
        self.check(work, 2000)

    def test_simulations(self):
        cluster = openpai.Cluster.synthetic("nodes:2 gpu:8:v100")
        trace = openpai.Trace.generate(3, seed=1, gpus=16)

        def work():
            seen, log = [], io.StringIO()
            report = openpai.simulate(cluster, trace, Greedy, log=log,
                                      events=io.StringIO(),
                                      on_job=seen.append, on_line=seen.append)
            openpai.compare([report, report]).to_csv()
            openpai.SimReport.parse(report.to_json())
            simulation = openpai.Simulation(cluster, trace)
            simulation.step(1)
            view = simulation.scheduler
            del simulation
            view.sums, view.fork()
            tried(lambda: openpai.simulate(cluster, trace, "no"),
                  lambda: openpai.simulate(cluster, trace, Greedy, seed=-1),
                  lambda: openpai.simulate(cluster, trace, Greedy,
                                           on_job=Failing()),
                  lambda: openpai.simulate(cluster, trace, log=Failing()),
                  lambda: openpai.SimReport.parse("{}"))
        self.check(work, 2000)

    def test_forecasts(self):
        s = openpai.Scheduler(openpai.Cluster.synthetic("nodes:1 gpu:8:v100"))
        s.submit(1, gpus=8, duration=5, user="ann")
        s.decide(0)
        s.started(1)
        s.submit(2, gpus=8)
        s.decide()

        def work():
            history = openpai.History()
            history.add(5, user="ann", gpus=8)
            history.guess(gpus=8)
            openpai.History.load(history.save())
            s.forecast(history, 3).met(2, 5, history)
            what_if = s.what_if([{"event": "cancel", "id": 1}], runs=2)
            after = what_if.after
            del what_if
            str(after), s.shapes(2, runs=2)
            s.what_if(cluster=s.changed_cluster("1x gpu:8:v100"), runs=1)
            tried(lambda: s.when(1), lambda: s.what_if(["{"]),
                  lambda: s.shapes(1), lambda: s.changed_cluster("x"),
                  lambda: openpai.History.load("{}"))
        self.check(work, 2000)

    def test_replays(self):
        cluster = openpai.Cluster.synthetic("nodes:2 gpu:8:v100")
        log = io.StringIO()
        openpai.simulate(cluster, openpai.Trace.generate(3, gpus=16), Greedy,
                         log=log)
        text = log.getvalue()

        def work():
            replay = openpai.Replay.parse(text, Greedy)
            view = replay.at("end")
            for step in replay.steps(0):
                json.dumps(step.decisions)
            replay.story(1), replay.range, replay.show_time(5)
            del replay
            view.sums
            tried(lambda: openpai.Replay.parse(text).at("end"),
                  lambda: openpai.Replay.parse("x").range,
                  lambda: openpai.Replay.parse(text, Greedy).at("no"),
                  lambda: openpai.Replay("no", Greedy))
        self.check(work, 2000)
