/* nodes.c - the platform's machine: shown, and taken out of use and back */
#include "platform/placing.h"
#include "platform/records.h"

#include <openpai/vc.h>

static const char *state_word(int state)
{
  return state == PAI_NODE_UP      ? "up"
         : state == PAI_NODE_DRAIN ? "drained"
                                   : "sick";
}

static void write_node(pai__reply *a, const pai_sched_node_view *n)
{
  pai__json_begin_object(&a->w);
  pai__member_text(a, "name", n->name);
  pai__member_text(a, "state", state_word(n->state));
  pai__member_text(a, "why", n->why);
  pai__member_text(a, "address", a->p->here.ip);
  pai__member_int(a, "gpus", n->gpus);
  pai__member_int(a, "freeGpus", n->free_gpus);
  pai__member_int(a, "sickGpus", n->sick_gpus);
  pai__member_int(a, "cpus", n->cpus);
  pai__member_int(a, "freeCpus", n->free_cpus);
  pai__member_int(a, "memory", (int64_t)n->memory);
  pai__member_int(a, "freeMemory", (int64_t)n->free_memory);
  pai__json_end_object(&a->w);
}

static int missing(const pai_platform *p, const char *name, pai_error **err)
{
  (void)pai__fail(err, PAI_ENOTFOUND, "there is no node '%.253s'", name);
  pai__error_help(err, "this platform has %s alone", p->here.name);
  return PAI_ENOTFOUND;
}

int pai_platform_write_nodes(pai_platform *p, const char *name,
                             pai_write_cb write, void *user_data,
                             pai_error **err)
{
  pai_sched_node_view node = { .struct_size = sizeof(node) };
  pai__reply a;
  int rc = pai__reply_begin(&a, p, write, user_data, err);

  if (rc < 0)
    return rc;
  (void)pai_sched_view_node(p->sched, 0, &node);
  if (name != NULL && strcmp(name, node.name) != 0)
    return pai__reply_end(&a, missing(p, name, err));
  if (name == NULL)
    pai__json_begin_array(&a.w);
  write_node(&a, &node);
  if (name == NULL)
    pai__json_end_array(&a.w);
  return pai__reply_end(&a, PAI_OK);
}

int pai_platform_drain(pai_platform *p, const char *node, int drain,
                       const char *why, pai_error **err)
{
  enum { LONGEST = 253 };
  char line[LONGEST + 1] = "";
  pai_sched_event e = { .kind = PAI_SCHED_NODE,
                        .node = node,
                        .gpu = -1,
                        .number = drain != 0 ? PAI_NODE_DRAIN : PAI_NODE_UP };
  size_t n = 0;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(p != NULL && node != NULL, err);
  PAI__CHECK_PROCESS(p, err);
  if (p->store == NULL)
    return pai__fail(err, PAI_ENOTSUP, "the platform keeps no records");
  if (p->closing)
    return pai__fail(err, PAI_EBUSY, "the platform is closing");
  if (strcmp(node, p->here.name) != 0)
    return missing(p, node, err);
  for (; drain != 0 && why != NULL && why[n] != '\0' && n < LONGEST; n++)
    line[n] = (unsigned char)why[n] < ' ' ? ' ' : why[n];
  while (n > 0 && why[n] != '\0' && ((unsigned char)why[n] & 0xc0) == 0x80)
    line[--n] = '\0'; /* no part of a character */
  e.text = line[0] != '\0' ? line : NULL;
  rc = pai__placing_tell(p, &e, err);
  if (rc < 0)
    return rc;
  p->schedule_due = true;
  pai__platform_hurry(p);
  return PAI_OK;
}
