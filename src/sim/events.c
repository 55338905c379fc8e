/* events.c - lines of JSON about what happens to jobs */
#include "sim/sim.h"

#include <openpai/platform.h>

static void key(pai__json_writer *w, const char *name)
{
  pai__json_key(w, name, strlen(name));
}

static void number(pai__json_writer *w, const char *name, int64_t value)
{
  key(w, name);
  pai__json_int(w, value);
}

static void text(pai__json_writer *w, const char *name, const char *value)
{
  if (value == NULL || *value == '\0')
    return;
  key(w, name);
  pai__json_text(w, value, strlen(value));
}

/* Begins a line; false: nobody reads it. */
static bool begin(pai_sim *sim, pai__json_writer *w, const char *event)
{
  if (sim->o.events == NULL)
    return false;
  pai__buf_clear(&sim->line);
  pai__json_writer_init(w, &sim->line, false);
  pai__json_begin_object(w);
  number(w, "time", sim->drive.now);
  text(w, "event", event);
  return true;
}

static int end(pai_sim *sim, pai__json_writer *w)
{
  int rc;

  pai__json_end_object(w);
  rc = pai__json_finish(w);
  if (rc == PAI_OK)
    pai__buf_char(&sim->line, '\n');
  if (rc < 0 || !pai__buf_ok(&sim->line))
    return pai__oom(sim->err);
  rc = sim->o.events(sim->o.user_data, sim->line.data, sim->line.len);
  return rc < 0 ? pai__fail(sim->err, rc, "an event could not be written")
                : PAI_OK;
}

static void put_job(pai__json_writer *w, const pai_sim *sim,
                    const pai__sim_job *job)
{
  number(w, "job", (int64_t)job->c.d.id);
  number(w, "line", (int64_t)job->told.line);
  text(w, "name", pai__sim_name(&job->told));
  text(w, "user", sim->stats.users[job->c.of.user].sums.name);
  text(w, "vc", sim->stats.vcs[job->c.of.vc].sums.name);
  number(w, "tasks", job->c.of.tasks);
  number(w, sim->stats.cpus ? "cpus" : "gpus", (int64_t)job->c.of.gpus);
}

static int tell_come(pai_sim *sim, const pai__sim_wait *wait)
{
  pai__sim_job job = { 0 };
  pai__json_writer w;

  (void)begin(sim, &w, "submitted");
  pai__sim_fill(sim, wait, &job);
  put_job(&w, sim, &job);
  return end(sim, &w);
}

int pai__tell_come(pai_sim *sim, const pai__sim_wait *wait)
{
  return sim->o.events != NULL ? tell_come(sim, wait) : PAI_OK;
}

int pai__tell_reject(pai_sim *sim, const pai__sim_job *job, const char *why)
{
  pai__json_writer w;

  if (!begin(sim, &w, "rejected"))
    return PAI_OK;
  put_job(&w, sim, job);
  text(&w, "why", why);
  return end(sim, &w);
}

int pai__tell_start(pai_sim *sim, const pai__sim_job *job)
{
  const pai__run *run;
  const pai__slot *slots;
  pai__json_writer w;

  if (!begin(sim, &w, "started"))
    return PAI_OK;
  number(&w, "job", (int64_t)job->c.d.id);
  number(&w, "run", job->c.d.runs);
  run = pai__stats_run(&sim->stats, &job->c);
  slots = pai__slots_of(sim->sched, run);
  key(&w, "nodes");
  pai__json_begin_array(&w);
  for (uint32_t i = 0; i < run->tasks; i++) {
    const char *name = sim->sched->park->spots[slots[i].node].name;

    if (i == 0 || slots[i].node != slots[i - 1].node)
      pai__json_text(&w, name, strlen(name));
  }
  pai__json_end_array(&w);
  return end(sim, &w);
}

int pai__tell_stop(pai_sim *sim, const pai__sim_job *job, enum pai__left how,
                   pai_time in_vain)
{
  static const char *const whys[] = { "", "over", "failed", "preempted",
                                      "node" };
  pai__json_writer w;

  if (!begin(sim, &w, "stopped"))
    return PAI_OK;
  number(&w, "job", (int64_t)job->c.d.id);
  text(&w, "why", whys[how]);
  number(&w, "in_vain", in_vain);
  return end(sim, &w);
}

int pai__tell_end(pai_sim *sim, const pai__sim_job *job)
{
  pai__json_writer w;

  if (!begin(sim, &w, "ended"))
    return PAI_OK;
  number(&w, "job", (int64_t)job->c.d.id);
  text(&w, "state",
       job->c.killed             ? "stopped"
       : job->c.d.life.code != 0 ? "failed"
                                 : "succeeded");
  number(&w, "code", job->c.d.life.code);
  return end(sim, &w);
}

int pai__tell_node(pai_sim *sim, uint32_t node, int state)
{
  static const char *const states[] = { "up", "drain", "sick" };
  pai__json_writer w;

  if (!begin(sim, &w, "node"))
    return PAI_OK;
  text(&w, "node", sim->sched->park->spots[node].name);
  text(&w, "state", states[state]);
  return end(sim, &w);
}
