/* replay.c - recorded steps done again, and compared */
#include "hived/replaying.h"

#include "json/json.h"

#include <stdio.h>

/* --- verdicts ------------------------------------------------------------- */

/* What differs may be due to a defect that we mend: any that made a difference
 * since the start. */
static void explain(hived_replay *r, uint32_t defects)
{
  size_t len = 0;

  r->verdict.kind = defects != 0 ? HIVED_FIXED : HIVED_DIFFERS;
  r->verdict.fix = defects != 0 ? r->fix : NULL;
  for (unsigned i = 0; i < 32; i++)
    if ((defects >> i & 1) != 0 && len < sizeof(r->fix))
      len += (size_t)snprintf(r->fix + len, sizeof(r->fix) - len, "%sQ%u",
                              len > 0 ? ", " : "", i);
}

int hived_replay_judge(hived_replay *r, const char *want, size_t want_len,
                       const pai__buf *got)
{
  int same;

  r->q2 = false;
  same = pai__buf_ok(got)
           ? hived_replay_same(r, want, want_len, pai__buf_text(got), got->len)
           : PAI_ENOMEM;
  if (same < 0)
    return same;
  r->verdict.kind = HIVED_AGREES;
  r->verdict.fix = NULL;
  if (same && !r->q2)
    return PAI_OK;
  if (same)
    explain(r, 1u << PAI__MENDED_Q2);
  else
    explain(r, r->engine->mended);
  return PAI_OK;
}

/* Whether HiveD broke down at this step. */
static bool is_crash(const hived_replay *r)
{
  return hived_replay_is_kind(r, pai__tree_get(r->row, 0, "expect"), "crash");
}

/* --- configurations ------------------------------------------------------- */

static void end_engine(hived_replay *r)
{
  pai__hived_free(r->engine);
  pai_cluster_free(r->cluster);
  r->engine = NULL;
  r->cluster = NULL;
}

static int take_bytes(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return pai__buf_ok(user_data) ? PAI_OK : PAI_ENOMEM;
}

static int begin_engine(hived_replay *r, pai__buf *text, pai_error **err)
{
  pai_cluster_options opts = PAI_CLUSTER_OPTIONS_INIT;
  int rc;

  end_engine(r);
  pai__map_dispose(&r->sick);
  pai__map_init(&r->sick, &r->alloc);
  opts.alloc = &r->alloc;
  opts.form = "hived";
  rc =
    pai_cluster_parse(&r->cluster, pai__buf_text(text), text->len, &opts, err);
  if (rc == PAI_OK)
    rc = pai__hived_new(&r->engine, r->cluster, &r->alloc, err);
  if (rc < 0)
    end_engine(r);
  return rc;
}

static int begin_case(hived_replay *r)
{
  pai__node n = pai__tree_get(r->row, 0, "case");
  char *name;

  if (n == PAI__NO_NODE)
    return PAI_OK;
  name = pai__strdup(&r->alloc, hived_replay_text(r, "case"));
  if (name == NULL)
    return PAI_ENOMEM;
  hived_replay_forget(r);
  pai__strfree(&r->alloc, r->name);
  r->name = name;
  r->verdict.name = name;
  return PAI_OK;
}

/* What is wrong with a configuration, which is another file than the step's. */
static int tell_config(const hived_replay *r, int rc, pai_error *why,
                       pai_error **err)
{
  const char *name = hived_replay_text(r, "config");
  char where[32] = "";

  if (why == NULL)
    return pai__oom(err);
  if (pai_error_line(why) > 0)
    (void)snprintf(where, sizeof(where), ":%d:%d", (int)pai_error_line(why),
                   (int)pai_error_column(why));
  (void)pai__fail(err, rc, "configuration %s%s: %s", name, where,
                  pai_error_message(why));
  if (pai_error_help(why) != NULL)
    pai__error_help(err, "%s", pai_error_help(why));
  pai_error_free(why);
  return rc;
}

/* A configuration that HiveD refuses, and so do we; or not, if a chain that no
 * virtual cluster has is all that is wrong. */
static int init(hived_replay *r, pai_error **err)
{
  bool refused = is_crash(r), found;
  pai_error *why = NULL;
  int rc = begin_case(r);
  pai__buf text;

  if (rc < 0)
    return pai__oom(err);
  pai__buf_init(&text, &r->alloc);
  rc =
    r->config(r->user_data, hived_replay_text(r, "config"), take_bytes, &text);
  found = rc == PAI_OK;
  if (found)
    rc = begin_engine(r, &text, &why);
  pai__buf_dispose(&text);
  if (!found)
    return pai__fail(err, rc,
                     rc == PAI_ENOTFOUND
                       ? "there is no configuration '%.200s'"
                       : "configuration '%.200s' cannot be read",
                     hived_replay_text(r, "config"));
  if (refused && rc == PAI_OK)
    explain(r, 1u << 9);
  if (refused && (rc == PAI_EINVAL || rc == PAI_ENOTSUP)) {
    r->verdict.kind = HIVED_AGREES;
    pai_error_free(why);
    return PAI_OK;
  }
  return rc < 0 ? tell_config(r, rc, why, err) : rc;
}

/* --- checks --------------------------------------------------------------- */

typedef void (*put_fn)(const hived_replay *r, pai__json_writer *w);

static int compare(hived_replay *r, const char *key, put_fn put)
{
  pai__node n = pai__tree_get(r->row, 0, key);
  pai__json_writer w;
  const char *want;
  size_t len;
  pai__buf got;
  int rc;

  if (n == PAI__NO_NODE)
    return PAI_OK;
  want = hived_replay_slice(r->row, n, &len);
  pai__buf_init(&got, &r->alloc);
  pai__json_writer_init(&w, &got, false);
  put(r, &w);
  rc = pai__json_finish(&w);
  if (rc == PAI_OK)
    rc = hived_replay_judge(r, want, len, &got);
  pai__buf_dispose(&got);
  return rc;
}

static int check(hived_replay *r)
{
  const char *fix;
  int rc = compare(r, "state", hived_replay_put_state);

  if (rc < 0 || r->verdict.kind == HIVED_DIFFERS)
    return rc;
  fix = r->verdict.fix;
  rc = compare(r, "views", hived_replay_put_views);
  if (fix != NULL && r->verdict.kind == HIVED_AGREES) {
    r->verdict.kind = HIVED_FIXED;
    r->verdict.fix = fix;
  }
  return rc;
}

static int check_health(hived_replay *r)
{
  pai__node query = pai__tree_get(r->row, 0, "query");
  pai__node n = pai__tree_get(r->row, 0, "vcCellHealth"), v[3];
  uint32_t vc, chain;
  pai__tree_walk walk;
  pai__json_writer w;
  const char *s;
  pai__buf got;
  size_t len;
  int rc;

  if (query == PAI__NO_NODE || n == PAI__NO_NODE ||
      pai__tree_type(r->row, query) != PAI__SEQUENCE ||
      pai__tree_count(r->row, query) != 3)
    return PAI_EINVAL;
  walk = pai__tree_iter(r->row, query);
  for (int i = 0; i < 3; i++)
    v[i] = pai__tree_next(&walk);
  if (pai__tree_type(r->row, v[0]) != PAI__STRING ||
      pai__tree_type(r->row, v[1]) != PAI__STRING ||
      pai__tree_type(r->row, v[2]) != PAI__INT)
    return PAI_EINVAL;
  s = pai__tree_str(r->row, v[0], &len);
  vc = pai__hived_find_vc(r->engine, s, len);
  s = pai__tree_str(r->row, v[1], &len);
  chain = pai__hived_find_chain(r->engine, s, len);
  if (vc == PAI__HIVED_UNKNOWN || chain == PAI__NOTHING)
    return PAI_EINVAL;
  pai__buf_init(&got, &r->alloc);
  pai__json_writer_init(&w, &got, false);
  hived_replay_put_health(r, vc, chain, (uint32_t)pai__tree_int(r->row, v[2]),
                          &w);
  rc = pai__json_finish(&w);
  s = hived_replay_slice(r->row, n, &len);
  if (rc == PAI_OK)
    rc = hived_replay_judge(r, s, len, &got);
  pai__buf_dispose(&got);
  return rc;
}

/* --- nodes ---------------------------------------------------------------- */

static bool is_excepted(const hived_replay *r, const char *name)
{
  pai__node list = pai__tree_get(r->row, 0, "except"), item;
  pai__tree_walk walk;

  if (list == PAI__NO_NODE)
    return false;
  walk = pai__tree_iter(r->row, list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (pai__tree_type(r->row, item) == PAI__STRING &&
        strcmp(pai__tree_str(r->row, item, NULL), name) == 0)
      return true;
  return false;
}

static int heal_all(hived_replay *r)
{
  const pai_cluster *c = r->cluster;

  for (uint32_t i = 0; i < c->nnodes; i++) {
    uint32_t node = c->by_name != NULL ? c->by_name[i] : i;

    if (!is_excepted(r, c->nodes[node].name))
      pai__hived_set_node(r->engine, node, true);
  }
  return PAI_OK;
}

static int node_bad(hived_replay *r)
{
  return hived_replay_set_node(r, hived_replay_text(r, "node"), false);
}

static int node_healthy(hived_replay *r)
{
  return hived_replay_set_node(r, hived_replay_text(r, "node"), true);
}

static int check_parsed(hived_replay *r)
{
  return compare(r, "parsed", hived_replay_put_parsed);
}

/* --- steps ---------------------------------------------------------------- */

typedef struct op {
  const char *name, *subject;
  int (*run)(hived_replay *r);
} op;

static const op ops[] = {
  { "init", "config", NULL },
  { "nodes_healthy", "", heal_all },
  { "node_bad", "node", node_bad },
  { "node_healthy", "node", node_healthy },
  { "schedule", "pod", hived_replay_schedule },
  { "add", "pod", hived_replay_add },
  { "delete", "pod", hived_replay_delete },
  { "delete_unallocated", "pod", hived_replay_delete_unallocated },
  { "check", "", check },
  { "config_dump", "", check_parsed },
  { "vc_health", "", check_health },
};

static int find_op(const hived_replay *r, const op **out, pai_error **err)
{
  const char *name = hived_replay_text(r, "op");
  const char *names[PAI__LEN(ops)];

  *out = NULL;
  for (size_t i = 0; i < PAI__LEN(ops); i++) {
    names[i] = ops[i].name;
    if (strcmp(ops[i].name, name) == 0)
      *out = &ops[i];
  }
  return *out != NULL ? hived_replay_check(r, (*out)->subject, err)
                      : hived_replay_no_step(r, names, PAI__LEN(ops), err);
}

static int run_step(hived_replay *r, pai_error **err)
{
  const op *o;
  int rc = find_op(r, &o, err);

  if (rc < 0)
    return rc;
  r->verdict.op = o->name;
  r->verdict.subject = hived_replay_text(r, o->subject);
  if (o->run == NULL)
    return init(r, err);
  if (r->engine == NULL)
    return pai__fail(err, PAI_EINVAL,
                     "a step '%s' comes before any configuration", o->name);
  rc = o->run(r);
  if (rc == PAI_OK && r->verdict.kind == HIVED_DONE && is_crash(r))
    explain(r, r->engine->mended);
  if (rc == PAI_ENOMEM)
    return pai__oom(err);
  if (rc == PAI_ENOTFOUND && o->run == hived_replay_add)
    return pai__fail(err, PAI_EINVAL,
                     "a step 'add' needs \"spec\" and \"bindAnnotation\", or "
                     "before it a 'schedule' of its pod that expects "
                     "\"bind\"");
  if (rc == PAI_ENOTFOUND)
    return pai__fail(err, PAI_EINVAL,
                     "a step '%s' is of a pod that was not there before",
                     o->name);
  return rc < 0 ? pai__fail(err, rc, "a step '%s' is not complete", o->name)
                : rc;
}

static void tell(hived_replay *r, hived_verdict *verdict)
{
  pai__node n = pai__tree_get(r->row, 0, "step");
  hived_verdict *v = &r->verdict;

  v->step = n != PAI__NO_NODE && pai__tree_type(r->row, n) == PAI__INT
              ? pai__tree_int(r->row, n)
              : -1;
  if (v->kind >= HIVED_FIXED && r->place.len > 0) {
    v->place = pai__buf_text(&r->place);
    v->want = pai__buf_text(&r->want);
    v->got = pai__buf_text(&r->got);
  }
  *verdict = *v;
}

int hived_replay_step(hived_replay *r, const char *line, size_t len,
                      hived_verdict *verdict, pai_error **err)
{
  pai__json_options opts = { .alloc = NULL };
  int rc;

  if (err != NULL)
    *err = NULL;
  opts.alloc = &r->alloc;
  pai__tree_free(r->row);
  r->row = NULL;
  pai__arena_dispose(&r->arena);
  pai__arena_init(&r->arena, &r->alloc);
  pai__buf_clear(&r->place);
  pai__buf_clear(&r->want);
  pai__buf_clear(&r->got);
  r->verdict = (hived_verdict){ .kind = HIVED_DONE,
                                .name = r->name != NULL ? r->name : "",
                                .op = "",
                                .subject = "" };
  rc = pai__json_parse(&r->row, line, len, &opts, err);
  if (rc < 0)
    return rc;
  if (pai__tree_type(r->row, 0) != PAI__MAPPING)
    return pai__fail(err, PAI_EINVAL, "a step is an object");
  rc = run_step(r, err);
  if (rc == PAI_OK)
    tell(r, verdict);
  return rc;
}

/* --- life ----------------------------------------------------------------- */

int hived_replay_new(hived_replay **out, const pai_alloc *alloc,
                     hived_config_cb config, void *user_data)
{
  hived_replay *r;

  alloc = pai__alloc_or_libc(alloc);
  *out = r = pai__zalloc(alloc, sizeof(*r));
  if (r == NULL)
    return PAI_ENOMEM;
  r->alloc = *alloc;
  r->config = config;
  r->user_data = user_data;
  pai__map_init(&r->pods, &r->alloc);
  pai__map_init(&r->sick, &r->alloc);
  pai__map_init(&r->gangs, &r->alloc);
  pai__arena_init(&r->arena, &r->alloc);
  pai__buf_init(&r->place, &r->alloc);
  pai__buf_init(&r->want, &r->alloc);
  pai__buf_init(&r->got, &r->alloc);
  return PAI_OK;
}

void hived_replay_free(hived_replay *r)
{
  pai_alloc alloc;

  if (r == NULL)
    return;
  alloc = r->alloc;
  end_engine(r);
  hived_replay_forget(r);
  pai__free(&alloc, r->by_number, r->pods_cap * sizeof(*r->by_number));
  pai__map_dispose(&r->pods);
  pai__map_dispose(&r->sick);
  pai__map_dispose(&r->gangs);
  pai__strfree(&alloc, r->name);
  pai__tree_free(r->row);
  pai__arena_dispose(&r->arena);
  pai__buf_dispose(&r->place);
  pai__buf_dispose(&r->want);
  pai__buf_dispose(&r->got);
  pai__free(&alloc, r, sizeof(*r));
}
