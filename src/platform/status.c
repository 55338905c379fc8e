/* status.c - what the platform is and does */
#include "platform/apart.h"
#include "platform/gpus.h"
#include "platform/line.h"
#include "platform/records.h"
#include "platform/rooms.h"
#include "platform/shortage.h"

#include <stdio.h>
#include <stdlib.h>

/* --- status ----------------------------------------------------------------------- */

static void write_jobs(pai__reply *a, const pai_platform *p)
{
  uint32_t states[PAI_STATE_STOPPED + 1] = { 0 };
  const pai__map_entry *e;

  for (size_t i = 0; (e = pai__map_next(&p->jobs, &i)) != NULL;)
    states[pai__job_public_state(&((pai__pjob *)e->value)->job)]++;
  pai__member(a, "jobs");
  pai__json_begin_object(&a->w);
  for (int s = PAI_STATE_WAITING; s <= PAI_STATE_STOPPING; s++)
    pai__member_int(a, pai_state_name(s), states[s]);
  pai__json_end_object(&a->w);
}

static void write_machine(pai__reply *a, const pai_platform *p)
{
  pai_sched_node_view node = { .struct_size = sizeof(node) };

  (void)pai_sched_view_node(p->sched, 0, &node);
  pai__member(a, "machine");
  pai__json_begin_object(&a->w);
  pai__member_text(a, "name", p->here.name);
  pai__member_text(a, "ip", p->here.ip);
  pai__member_int(a, "cpus", node.cpus);
  pai__member_int(a, "freeCpus", node.free_cpus);
  pai__member_int(a, "gpus", node.gpus);
  pai__member_int(a, "freeGpus", node.free_gpus);
  pai__member_int(a, "sickGpus", node.sick_gpus);
  pai__member_int(a, "memory", (int64_t)node.memory);
  pai__member_int(a, "freeMemory", (int64_t)node.free_memory);
  pai__json_end_object(&a->w);
}

/* Of jobs that do not say. */
static void member_runtime(pai__reply *a, const pai_platform *p)
{
  pai__buf text;

  if (p->runtime == PAI_RUNTIME_AUTO) {
    pai__member_text(a, "runtime", p->ops->runtime(p->backend));
    return;
  }
  pai__buf_init(&text, &p->alloc);
  pai__buf_printf(&text,
                  "%s, as this platform was told; a job may ask for another",
                  pai__plan_runtime_name(p->runtime));
  pai__member_text(a, "runtime", pai__buf_text(&text));
  pai__buf_dispose(&text);
}

/* What keeps the platform from writing its database, or from starting jobs. */
static void member_trouble(pai__reply *a, const pai_platform *p)
{
  pai__buf text;

  pai__buf_init(&text, &p->alloc);
  if (p->failing)
    pai__buf_str(&text, pai_error_message(p->trouble));
  else if (p->full)
    pai__buf_printf(&text, "the disk of %s is full: no job is taken", p->root);
  else
    pai__shortage_tell(p, &text);
  pai__member_text(a, "trouble", text.len > 0 ? pai__buf_text(&text) : NULL);
  pai__buf_dispose(&text);
}

int pai_platform_status(pai_platform *p, pai_write_cb write, void *user_data,
                        pai_error **err)
{
  pai_sched_view sums = { .struct_size = sizeof(sums) };
  pai__reply a;
  int rc = pai__reply_begin(&a, p, write, user_data, err);

  if (rc < 0)
    return rc;
  (void)pai_sched_view_sums(p->sched, &sums);
  pai__json_begin_object(&a.w);
  pai__member_int(&a, "pid", pai__platform_pid());
  pai__member_text(&a, "version", pai_version());
  pai__member_text(&a, "root", p->root);
  pai__member_text(&a, "user", p->user);
  pai__member(&a, "system");
  pai__json_bool(&a.w, p->system);
  write_jobs(&a, p);
  write_machine(&a, p);
  pai__member_text(&a, "policy", sums.policy);
  pai__member_text(&a, "limits", p->ops->limits(p->backend));
  member_runtime(&a, p);
  pai__member_text(&a, "warning", pai__apart_hole(p));
  member_trouble(&a, p);
  pai__json_end_object(&a.w);
  return pai__reply_end(&a, PAI_OK);
}
