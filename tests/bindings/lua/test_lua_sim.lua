-- What the Lua module promises of traces, simulations, forecasts and replays.
-- Usage: test_lua_sim.lua ROOT
local openpai = require "openpai"
local root = arg[1]
local shared = require "lua_tests"
local raises, fails = shared.raises, shared.fails

local SECOND = 1000000

local function cluster(description)
  return assert(openpai.cluster.synthetic(
    description or "nodes:4 gpu:8:v100 cpus:64 mem:512G"))
end

local function made(options)
  options = options or {}
  options.jobs = options.jobs or 200
  options.seed, options.gpus, options.load = 1, 64, 0.9
  return assert(openpai.trace.generate(options))
end

local tests = {}

-- --- traces ------------------------------------------------------------------

function tests.records()
  local t = assert(openpai.trace.of {
    { time = 0, id = "a", user = "ann", gpus = 8, duration = 90 * SECOND },
    { time = SECOND + 500000, id = "b", after = { "a" },
      wants = { { tasks = 2, gpus = 4, type = "v100" } },
      attempts = { { duration = SECOND, code = 1 },
                   { duration = 2 * SECOND } } },
    { kind = "node", time = 2 * SECOND, node = "node0001", state = "sick",
      why = "fan" },
    { kind = "kill", time = 3 * SECOND, id = "a" },
  })
  local seen = {}
  for record in t:records() do
    seen[#seen + 1] = record
  end
  assert(#seen == 4 and seen[1].user == "ann" and seen[1].kind == "job")
  assert(seen[1].attempts[1].duration == 90 * SECOND)
  assert(seen[2].time == 1500000 and seen[2].after[1] == "a")
  assert(seen[2].wants[1].tasks == 2 and seen[2].attempts[1].code == 1)
  assert(seen[3].node == "node0001" and seen[3].why == "fan")
  assert(seen[4].kind == "kill" and seen[4].id == "a")
  local sums = t:sums()
  assert(sums.form == "jsonl" and sums.jobs == 2 and sums.skipped == 0)
  -- Each reading begins anew, and what was read can be given back.
  local text = assert(t:to_jsonl())
  assert(openpai.trace.parse(text):to_jsonl() == text)
  assert(openpai.trace.of(seen):to_jsonl() == text)
  assert(tostring(t):find("jsonl, 2 jobs"))
end

-- Also of clocks that count from 1970.
function tests.times_are_exact()
  local records, i = {}, 0
  for k = 0, 99 do
    records[k + 1] = { time = 1777644306123457 + k, gpus = 1,
                       duration = 999999 }
  end
  for record in openpai.trace.of(records):records() do
    i = i + 1
    assert(record.time == records[i].time)
    assert(record.attempts[1].duration == 999999)
  end
  assert(i == 100)
end

function tests.notes()
  local text = '{"time":0,"duration":1}\n{"time":1,"duraton":1}\nx\n'
  local told = {}
  local t = assert(openpai.trace.parse(text, {
    form = "jsonl", on_line = function(note) told[#told + 1] = note end }))
  for _ in t:records() do
  end
  assert(#told == 2 and told[1].line == 2 and told[1].used == false)
  assert(told[1].why:find("duraton") and #t:notes() == 2)
  assert(t:notes()[2].line == 3 and t:sums().skipped == 2)
  raises("stop here", function()
    local bad = assert(openpai.trace.parse(text, {
      form = "jsonl", on_line = function() error("stop here") end }))
    for _ in bad:records() do
    end
  end)
  raises("duraton", function()
    local strict = openpai.trace.parse(text, { form = "jsonl",
                                               strict = true })
    for _ in strict:records() do
    end
  end)
  fails("PAI_EINVAL", openpai.trace.parse("hello", {}))
  fails("PAI_EINVAL", openpai.trace.parse("", { form = "no" }))
  fails("PAI_ENOTFOUND", openpai.trace.load(root .. "/no"))
  raises("no option 'from'", openpai.trace.parse, "", { from = 1 })
  fails("PAI_EINVAL", openpai.trace.generate { like = "nobody" })
end

function tests.files()
  local path = root .. "/made.jsonl"
  local t = made { virtual_clusters = { "nlp", "vision" } }
  assert(t:write(path))
  local read = assert(openpai.trace.load(path))
  assert(read:to_jsonl() == t:to_jsonl())
  local vcs = {}
  for record in read:records() do
    vcs[record.vc] = true
  end
  assert(vcs.nlp and vcs.vision and next(vcs, next(vcs, next(vcs))) == nil)
end

-- --- simulations -------------------------------------------------------------

local smallest = {}
function smallest:decide(host)
  for id in host:waiting() do
    host:start(id, "pack")
  end
end

function tests.simulate()
  local t, c = made { faults = true }, cluster()
  local fifo = assert(openpai.simulate(c, t))
  local again = assert(openpai.simulate(c, t, { policy = "fifo" }))
  local other = assert(openpai.simulate(c, t, { policy = "backfill",
                                                seed = 7 }))
  assert(fifo.jobs == 200 and fifo.policy == "fifo" and other.seed == 7)
  assert(fifo:to_json() == again:to_json())
  assert(fifo.wait_mean > other.wait_mean and fifo.utilization <= 1)
  assert(openpai.report.parse(fifo:to_json()):to_json() == fifo:to_json())
  local both = assert(openpai.compare { fifo, other })
  assert(#both == 2 and tostring(both):find("2 simulations"))
  assert(both:to_json():find('"runs"') and both:to_html():find("</html>"))
  assert(select(2, both:to_csv():gsub("\n", "")) == 3)
  assert(openpai.simulate(c, t, { policy = smallest }).finished ==
         fifo.finished)
  raises("no report", openpai.compare, {})
  raises("a report is wanted", openpai.compare, { 1 })
  raises("no option 'sed'", openpai.simulate, c, t, { sed = 1 })
  fails("PAI_ENOTFOUND", openpai.simulate(c, t, { policy = "no" }))
  fails("PAI_ENOTFOUND", openpai.simulate(c, root .. "/no"))
end

function tests.callbacks()
  local t, c = made(), cluster()
  local ended, log, events = {}, {}, 0
  local r = assert(openpai.simulate(c, t, {
    on_job = function(job) ended[#ended + 1] = job end,
    log = function(line) log[#log + 1] = line end,
    events = function() events = events + 1 end }))
  assert(#ended == r.jobs and events > r.jobs and log[1]:find("snapshot"))
  assert(ended[1].state == "succeeded" or ended[1].state == "failed")
  assert(ended[1].ended >= ended[1].started)
  local thrown = {}
  local ok, message = pcall(openpai.simulate, c, t, {
    on_job = function() error(thrown) end })
  assert(not ok and message == thrown)
  local notes = 0
  assert(openpai.simulate(cluster("nodes:1 gpu:1:v100"), made {}, {
    on_line = function() notes = notes + 1 end }).rejected > 0)
  assert(notes > 0)
  fails("PAI_EIO", openpai.simulate(c, t, { log = root .. "/no/log" }))
end

function tests.steps()
  local t, c = made(), cluster()
  local whole = assert(openpai.simulate(c, t))
  local sim = assert(openpai.simulation(c, t))
  local time, more = 0, true
  while more do
    time = time + 86400 * SECOND
    more = assert(sim:step(time) ~= nil) and sim:step(time)
    assert(sim:scheduler():now() <= time)
  end
  assert(sim:report():to_json() == whole:to_json())
  fails("PAI_ENOTSUP", sim:scheduler().core:decide(1))
  local fork = assert(sim:scheduler():fork())
  assert(fork:submit { id = 9999, gpus = 1 } and #fork:decide() == 1)
  assert(sim:close())
end

-- --- forecasts ---------------------------------------------------------------

-- One runs, two wait.
local function queue()
  local s = assert(openpai.scheduler(cluster("nodes:1 gpu:8:v100")))
  assert(s:submit({ id = 1, gpus = 8, duration = 100 * SECOND, user = "ann" },
                  0))
  assert(s:decide(0) and s:started(1))
  assert(s:submit { id = 2, gpus = 8, duration = 50 * SECOND, user = "bob" })
  assert(s:submit { id = 3, gpus = 4, duration = 50 * SECOND, user = "bob" })
  assert(s:decide())
  return s
end

-- Ctrl-C: a child sends it while the call runs, and lua's own handler, which
-- serves once, hooks what is done next.
function tests.a_signal_ends_a_forecast()
  local s = queue()
  os.execute("(sleep 0.1; kill -INT $PPID) & exit 0")
  local ok, why = pcall(s.shapes, s, 2, { runs = 100000 })
  assert(not ok and tostring(why):find("interrupted!"), tostring(why))
  assert(s:when(2).runs > 0)
end

function tests.forecast()
  local s = queue()
  local f = assert(s:forecast { runs = 10 })
  assert(#f == 2 and f[1].id == 2 and f[1].p50 == 100 * SECOND)
  assert(f:when(3).p90 == 150 * SECOND and f:when(3).started == 10)
  assert(tostring(f):find("request 2") and f:to_json():find('"p50"'))
  fails("PAI_ENOTFOUND", f:when(1))
  assert(s:when(2).p10 == 100 * SECOND)
  fails("PAI_ENOTFOUND", s:when(9))
  local h = assert(openpai.history.new())
  for i = 1, 20 do
    assert(h:add { user = "ann", name = "run-" .. i, gpus = 8,
                   duration = (i % 2 + 1) * 10 * SECOND })
  end
  local guess = h:guess { user = "ann", name = "run-99", gpus = 8 }
  assert(guess.alike == "name" and guess.samples == 20)
  assert(h:guess({ user = "ann", name = "run-1", gpus = 8 },
                 15 * SECOND).p10 >= 15 * SECOND)
  assert(openpai.history.load(h:save()):save() == h:save())
  assert(h:learn(s, '{"time":0,"event":"submit","request":{"id":77,' ..
                    '"wants":[{"gpus":1}]}}'))
  assert(#assert(s:forecast { runs = 5, history = h, arrivals = true }) == 2)
  assert(f:met(2, 100 * SECOND, h))
  fails("PAI_ENOTFOUND", f:met(1, 100 * SECOND, h))
  raises("a history is wanted", s.forecast, s, { history = {} })
end

function tests.a_present_unlike_the_past()
  local h = assert(openpai.history.new())
  for i = 1, 10 do
    assert(h:add { user = "ann", name = "run-" .. i, gpus = 8,
                   duration = 10 * SECOND })
  end
  local s = assert(openpai.scheduler(cluster("nodes:6 gpu:8:v100")))
  for i = 1, 7 do
    assert(s:submit({ id = i, gpus = 8, user = "ann", name = "run-" .. i }, 0))
  end
  assert(s:decide(0))
  for i = 1, 6 do
    assert(s:started(i))
  end
  assert(s:when(7, { history = h }).unlike == false)
  assert(s:decide(30 * SECOND))
  assert(s:when(7, { history = h }).unlike == true)
  assert(s:what_if({}, { history = h }).unlike == true)
  assert(s:when(7, { history = h }).unknown == false)
end

function tests.what_if()
  local s = queue()
  local w = assert(s:what_if { { event = "cancel", id = 1 } })
  assert(w.stop_now == 1 and w.sooner == 2 and w.unsafe == false)
  assert(w:before():when(3).p50 == 150 * SECOND)
  assert(w:after():when(2).p50 < 100 * SECOND)
  assert(tostring(w):find("request 2") and w:to_json():find('"sooner":2'))
  local larger = assert(s:changed_cluster { nodes = "1x gpu:8:v100" })
  w = assert(s:what_if({}, { cluster = larger }))
  assert(w.start_now == 1)
  fails("PAI_ENOTFOUND", s:changed_cluster { shares = { z = "1" } })
  fails("PAI_ENOTFOUND", s:what_if { { event = "cancel", id = 9 } })
  fails("PAI_EINVAL", s:what_if { "{" })
  local shapes = assert(s:shapes(3, { runs = 5 }))
  assert(shapes[1].what == "as it is" and tostring(shapes):find("request 3"))
  fails("PAI_ENOTFOUND", s:shapes(1))
end

-- --- replays -----------------------------------------------------------------

function tests.replay()
  local path = root .. "/sched.log"
  local sim = assert(openpai.simulate(cluster(), made(), { log = path }))
  assert(sim.jobs == 200)
  local r = assert(openpai.replay(path))
  local first, last = r:range()
  assert(first == 0 and last > first)
  local there = assert(r:at("+1d"))
  assert(there:now() <= 86400 * SECOND and r:line() > 1)
  assert(r:show_time(first) == "@0.000000" and r:time("end") == last)
  local began = {}
  while r:step() do
    for _, d in ipairs(r:decisions()) do
      began[#began + 1] = d
    end
  end
  assert(began[1].kind == "start" and began[1].tasks[1].node)
  assert(r:at(0) and r:skipped() == 0)
  assert(r:story(1):find("it was submitted"))
  assert(r:story(1, { policy = "backfill" }):find("backfill"))
  assert(r:story_json(1):find('"id":1'))
  fails("PAI_ENOTFOUND", r:at("+99w"))
  fails("PAI_EINVAL", r:at("tomorrow"))
  fails("PAI_ENOTFOUND", r:story(99999))
  local file = assert(io.open(path))
  local text = file:read("*a")
  file:close()
  local other = assert(openpai.replay.parse(text, { policy = "backfill" }))
  assert(other:at("end"):sums().policy == "backfill")
  fails("PAI_EINVAL", assert(openpai.replay.parse("x")):range())
end

-- Of a log with snapshots in its middle as well.
function tests.snapshots()
  local lines = {}
  local s = assert(openpai.scheduler(cluster()))
  assert(s:log(function(line) lines[#lines + 1] = line end,
               { snapshots = true, every = 1 }))
  for id = 1, 50 do
    assert(s:submit({ id = id, gpus = 1 }, id) and s:decide())
    assert(s:finished(id))
  end
  local text = table.concat(lines)
  assert(select(2, text:gsub('\n{"snapshot":', "")) > 0)
  local r = assert(openpai.replay.parse(text, { check = true }))
  assert(r:at(25):sums().running == 0 and r:at("end"):now() == 50)
end

shared.run(tests)
