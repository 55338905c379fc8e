/* bind.c - HiveD extender: annotations and request that bind a pod */
#include "base/text/encode.h"
#include "sched/hived/extender/extender.h"
#include "yaml/writer.h"

/* --- bind info, in HiveD's format ----------------------------------------- */

/* True for digits with more than one point, which no YAML reader takes for a
 * number. */
static bool is_address(const char *s)
{
  size_t points = 0;

  for (; *s != '\0'; s++) {
    if (*s == '.' && (s[1] < '0' || s[1] > '9'))
      return false;
    if (*s != '.' && (*s < '0' || *s > '9'))
      return false;
    points += *s == '.';
  }
  return points > 1;
}

static void put_name(pai__buf *out, const char *s)
{
  bool indicator;
  size_t len = strlen(s);
  pai__yaml_form form = pai__yaml_choose_form(s, len, &indicator);

  if (s[0] != '.' && is_address(s))
    form = PAI__FORM_PLAIN;
  pai__yaml_put_line(out, s, len,
                     form == PAI__FORM_PLAIN ? form : PAI__FORM_DOUBLE);
}

/* Placement of one pod. */
typedef struct placed {
  const pai__hived *h;
  const pai__hived_gang *gang;
  uint32_t first, n;
} placed;

static pai__hived_spot spot_at(const placed *p, uint32_t i)
{
  return pai__hived_gang_spot(p->h, p->gang, p->first, p->n, p->first + i);
}

static void put_devices(const placed *p, const char *before, pai__buf *out)
{
  for (uint32_t i = 0; i < p->n; i++)
    pai__buf_printf(out, "%s- %u\n", before, (unsigned)spot_at(p, i).index);
}

static void put_placement(const placed *p, pai__buf *out)
{
  pai__buf_str(out, "  - physicalNode: ");
  put_name(out, pai__hived_node_name(p->h, spot_at(p, 0).node));
  pai__buf_str(out, "\n    physicalLeafCellIndices:\n");
  put_devices(p, "    ", out);
  pai__buf_str(out, "    preassignedCellTypes:\n");
  for (uint32_t i = 0; i < p->n; i++) {
    pai__buf_str(out, "    - ");
    put_name(out, pai__hived_type_name(p->h, spot_at(p, i).type));
    pai__buf_char(out, '\n');
  }
}

static void put_info(const placed *own, pai__buf *out)
{
  placed p = *own;

  pai__buf_str(out, "node: ");
  put_name(out, pai__hived_node_name(p.h, spot_at(own, 0).node));
  pai__buf_str(out, "\nleafCellIsolation:\n");
  put_devices(own, "", out);
  pai__buf_str(out, "cellChain: ");
  put_name(out, pai__hived_type_name(p.h, spot_at(own, 0).chain));
  pai__buf_str(out, "\naffinityGroupBindInfo:\n");
  p.first = 0;
  for (uint32_t i = 0; i < p.gang->nmembers; i++) {
    p.n = p.gang->members[i].leaves;
    pai__buf_str(out, "- podPlacements:\n");
    for (uint32_t k = 0; k < p.gang->members[i].pods; k++, p.first += p.n)
      put_placement(&p, out);
  }
}

/* Returns the number of leaves of the pod whose first leaf is `first`. */
static uint32_t size_at(const pai__hived_gang *g, uint32_t first)
{
  uint32_t at = 0;

  for (uint32_t i = 0; i < g->nmembers; i++) {
    at += g->members[i].leaves * g->members[i].pods;
    if (first < at)
      return g->members[i].leaves;
  }
  return 0;
}

int pai__ext_keep_binding(const pai_hived_extender *e, pai__ext_pod *p,
                          const pai__hived_result *result, uint32_t *node)
{
  const pai__hived_gang *g = &result->gang;
  placed own = { e->engine, g, result->first, size_at(g, result->first) };
  pai__buf info, devices;
  int rc;

  pai__buf_init(&info, &e->alloc);
  pai__buf_init(&devices, &e->alloc);
  *node = spot_at(&own, 0).node;
  put_info(&own, &info);
  for (uint32_t i = 0; i < own.n; i++)
    pai__buf_printf(&devices, i > 0 ? ",%u" : "%u",
                    (unsigned)spot_at(&own, i).index);
  rc = pai__buf_ok(&info) && pai__buf_ok(&devices) ? PAI_OK : PAI_ENOMEM;
  if (rc == PAI_OK)
    rc = pai__ext_set(e, &p->info, pai__buf_text(&info));
  if (rc == PAI_OK)
    rc = pai__ext_set(e, &p->isolation, pai__buf_text(&devices));
  if (rc == PAI_OK)
    rc = pai__ext_set(e, &p->node, pai__hived_node_name(e->engine, *node));
  pai__buf_dispose(&info);
  pai__buf_dispose(&devices);
  return rc;
}

/* --- binding request ------------------------------------------------------ */

int pai__ext_put_binding(pai_hived_extender *e, const pai__ext_pod *p,
                         int kind)
{
  pai_hived_answer *a = &e->answer;
  pai__json_writer w;
  int rc;

  pai__json_writer_init(&w, &e->bind_body, false);
  pai__json_write(&w,
                  "{kind:s,apiVersion:s,metadata:{name:s,namespace:s,uid:s,"
                  "creationTimestamp:null,annotations:{"
                  "hivedscheduler.microsoft.com/pod-bind-info:s,"
                  "hivedscheduler.microsoft.com/pod-leaf-cell-isolation:s}},"
                  "target:{kind:s,name:s}}",
                  "Binding", "v1", p->name, p->ns, p->uid, p->info,
                  p->isolation, "Node", p->node);
  rc = pai__json_finish(&w);
  pai__buf_str(&e->bind_path, "/api/v1/namespaces/");
  pai__put_escaped(&e->bind_path, p->ns, "");
  pai__buf_str(&e->bind_path, "/pods/");
  pai__put_escaped(&e->bind_path, p->name, "");
  pai__buf_str(&e->bind_path, "/binding");
  if (rc < 0 || !pai__buf_ok(&e->bind_path))
    return PAI_ENOMEM;
  a->bind = kind;
  a->bind_path = pai__buf_text(&e->bind_path);
  a->bind_body = pai__buf_text(&e->bind_body);
  a->bind_body_len = e->bind_body.len;
  a->bind_uid = p->uid;
  return PAI_OK;
}
