/* nodes.c - the platform's node: showing, draining and undraining it */
#include "platform/place/placing.h"
#include "platform/records/records.h"

#include <openpai/vc.h>

static const char *state_word(int state)
{
  return state == PAI_NODE_UP      ? "up"
         : state == PAI_NODE_DRAIN ? "drained"
                                   : "sick";
}

pai__node_row pai__node_of(const pai_platform *p)
{
  pai_sched_node_view n = { .struct_size = sizeof(n) };

  (void)pai_sched_view_node(p->sched, 0, &n);
  return (pai__node_row){ .name = n.name,
                          .state = state_word(n.state),
                          .why = n.why,
                          .address = p->here.ip,
                          .gpus = n.gpus,
                          .free_gpus = n.free_gpus,
                          .sick_gpus = n.sick_gpus,
                          .used_gpus =
                            (uint64_t)n.gpus - n.free_gpus - n.sick_gpus,
                          .cpus = n.cpus,
                          .free_cpus =
                            (uint64_t)n.free_cpus * 1000 + n.free_cpu_millis,
                          .memory = n.memory,
                          .free_memory = n.free_memory };
}

static int missing(const pai_platform *p, const char *name, pai_error **err)
{
  (void)pai__fail(err, PAI_ENOTFOUND, "there is no node '%.253s'", name);
  pai__error_help(err, "this platform has one node: %s", p->here.name);
  return PAI_ENOTFOUND;
}

int pai_platform_write_nodes(pai_platform *p, const char *name,
                             pai_write_cb write, void *user_data,
                             pai_error **err)
{
  pai__node_row node;
  pai__reply a;
  int rc = pai__reply_begin(&a, p, write, user_data, err);

  if (rc < 0)
    return rc;
  node = pai__node_of(p);
  if (name != NULL && strcmp(name, node.name) != 0)
    return pai__reply_end(&a, missing(p, name, err));
  if (name == NULL)
    pai__json_begin_array(&a.w);
  (void)pai__api_object(&a.w, &pai__api_Node, &node, NULL, NULL);
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

  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(node != NULL, err);
  rc = pai__check_open(p, err);
  if (rc < 0)
    return rc;
  if (strcmp(node, p->here.name) != 0)
    return missing(p, node, err);
  for (; drain != 0 && why != NULL && why[n] != '\0' && n < LONGEST; n++)
    line[n] = (unsigned char)why[n] < ' ' ? ' ' : why[n];
  while (n > 0 && why[n] != '\0' && ((unsigned char)why[n] & 0xc0) == 0x80)
    line[--n] = '\0'; /* no incomplete character */
  e.text = line[0] != '\0' ? line : NULL;
  rc = pai__placing_tell(p, &e, err);
  if (rc < 0)
    return rc;
  p->schedule_due = true;
  pai__platform_hurry(p);
  return PAI_OK;
}
