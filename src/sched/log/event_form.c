/* event_form.c - reading and writing events as JSON */
#include "sched/log/event_form.h"

#include "base/text/milli.h"
#include "json/json.h"
#include "sched/log/event.h"

#include <stdio.h>

/* --- fields of each kind -------------------------------------------------- */

static const char *const kinds[] = { [0] = "",
                                     [PAI_SCHED_SUBMIT] = "submit",
                                     [PAI_SCHED_CHANGE] = "change",
                                     [PAI_SCHED_CANCEL] = "cancel",
                                     [PAI_SCHED_STARTED] = "started",
                                     [PAI_SCHED_FINISHED] = "finished",
                                     [PAI_SCHED_RETURNED] = "returned",
                                     [PAI_SCHED_RESIZED] = "resized",
                                     [PAI_SCHED_NODE] = "node",
                                     [PAI_SCHED_CLUSTER] = "cluster",
                                     [PAI_SCHED_RESERVE] = "reserve",
                                     [PAI_SCHED_UNRESERVE] = "unreserve",
                                     [PAI_SCHED_LOSE_PORT] = "lose_port",
                                     [PAI_SCHED_REGAIN_PORTS] = "regain_ports",
                                     [PAI_SCHED_POLICY] = "policy",
                                     [PAI_SCHED_SHADOW] = "shadow",
                                     [PAI_SCHED_TIME] = "time",
                                     [PAI__LINE_DECIDE] = "decide",
                                     NULL };

static const char *const states[] = { [PAI_NODE_UP] = "up",
                                      [PAI_NODE_DRAIN] = "drain",
                                      [PAI_NODE_SICK] = "sick",
                                      NULL };

/* The first fields of all kinds of events. */
#define HEAD                                                              \
  PAI__NUMBER(pai__line, e.time, -PAI__LAST_TIME, PAI__LAST_TIME, "time", \
              .needed = true),                                            \
    PAI__WORD(pai__line, e.kind, kinds, "event", .needed = true),         \
    PAI__FLAG(pai__line, failed, "failed")
#define ID PAI__ID(pai__line, e.id, "id", .needed = true)
#define INSTANCE PAI__NUMBER(pai__line, e.instance, 0, UINT32_MAX, "instance")
#define NODE PAI__TEXT(pai__line, e.node, "node", .needed = true)

static const pai__field submit[] = {
  HEAD, PAI__NODE(pai__line, request, "request", .needed = true)
};
static const pai__field change[] = {
  HEAD, ID, PAI__TEXT(pai__line, e.key, "key", .needed = true),
  PAI__NUMBER(pai__line, e.want, 0, UINT32_MAX, "want"),
  PAI__NODE(pai__line, value, "value", .needed = true)
};
static const pai__field cancel[] = { HEAD, ID,
                                     PAI__NUMBER(pai__line, e.instance, 0,
                                                 UINT32_MAX, "instance",
                                                 .usual = PAI_SCHED_ALL) };
static const pai__field instance[] = { HEAD, ID, INSTANCE };
static const pai__field finished[] = {
  HEAD, ID, INSTANCE,
  PAI__NUMBER(pai__line, e.number, INT64_MIN, INT64_MAX, "code")
};
static const pai__field node_state[] = {
  HEAD, NODE, PAI__NUMBER(pai__line, e.gpu, -1, INT32_MAX, "gpu", .usual = -1),
  PAI__WORD(pai__line, e.number, states, "state", .needed = true),
  PAI__TEXT(pai__line, e.text, "why")
};
static const pai__field new_cluster[] = {
  HEAD, PAI__NODE(pai__line, new_cluster, "cluster", .needed = true)
};
static const pai__field reserve[] = {
  HEAD, PAI__NODE(pai__line, reservation, "reservation", .needed = true)
};
static const pai__field unreserve[] = {
  HEAD, PAI__TEXT(pai__line, e.text, "name", .needed = true)
};
static const pai__field lose_port[] = { HEAD, NODE,
                                        PAI__NUMBER(pai__line, e.number,
                                                    INT64_MIN, INT64_MAX,
                                                    "port", .needed = true) };
static const pai__field policy[] = {
  HEAD, PAI__TEXT(pai__line, e.text, "policy", .needed = true),
  PAI__NODE(pai__line, options, "options")
};
static const pai__field shadow[] = {
  HEAD, PAI__TEXT(pai__line, e.text, "policy"),
  PAI__NODE(pai__line, options, "options")
};
static const pai__field nothing[] = { HEAD };

#define LIST(name)       \
  {                      \
    name, PAI__LEN(name) \
  }
static const struct {
  const pai__field *list;
  size_t count;
} of_kind[] = { [0] = LIST(nothing),
                [PAI_SCHED_SUBMIT] = LIST(submit),
                [PAI_SCHED_CHANGE] = LIST(change),
                [PAI_SCHED_CANCEL] = LIST(cancel),
                [PAI_SCHED_STARTED] = LIST(instance),
                [PAI_SCHED_FINISHED] = LIST(finished),
                [PAI_SCHED_RETURNED] = LIST(instance),
                [PAI_SCHED_RESIZED] = LIST(instance),
                [PAI_SCHED_NODE] = LIST(node_state),
                [PAI_SCHED_CLUSTER] = LIST(new_cluster),
                [PAI_SCHED_RESERVE] = LIST(reserve),
                [PAI_SCHED_UNRESERVE] = LIST(unreserve),
                [PAI_SCHED_LOSE_PORT] = LIST(lose_port),
                [PAI_SCHED_REGAIN_PORTS] = LIST(nothing),
                [PAI_SCHED_POLICY] = LIST(policy),
                [PAI_SCHED_SHADOW] = LIST(shadow),
                [PAI_SCHED_TIME] = LIST(nothing),
                [PAI__LINE_DECIDE] = LIST(nothing) };

static const pai__field kept[] = {
  PAI__TEXT(pai__line, reservation_read.name, "name", .needed = true),
  PAI__NUMBER(pai__line, reservation_read.from, -PAI__LAST_TIME,
              PAI__LAST_TIME, "from"),
  PAI__NUMBER(pai__line, reservation_read.to, -PAI__LAST_TIME, PAI__LAST_TIME,
              "to"),
  PAI__TEXT(pai__line, reservation_read.vc, "vc"),
  PAI__TEXT(pai__line, reservation_read.user, "user"),
  PAI__NODE(pai__line, nodes, "nodes"),
};

/* --- embedded texts ------------------------------------------------------- */

const char *pai__form_slice(const pai__form *f, pai__arena *arena, pai__node n,
                            size_t *len)
{
  const pai__tree_node *at = &f->tree->nodes[n];

  *len = at->end - at->start;
  return pai__arena_strndup(arena, f->tree->text + at->start, *len);
}

int pai__cluster_read(const pai__form *f, const pai_alloc *alloc, pai__node n,
                      pai_cluster **cluster)
{
  pai_cluster_options o = PAI_CLUSTER_OPTIONS_INIT;
  const pai__tree_node *at = &f->tree->nodes[n];
  pai_error *cause = NULL;
  int rc;

  o.alloc = alloc;
  o.form = "openpai";
  o.max_bytes = PAI__TREE_MAX_TEXT;
  o.max_nodes = UINT32_MAX;
  rc = pai_cluster_parse(cluster, f->tree->text + at->start,
                         at->end - at->start, &o, &cause);
  return rc < 0 ? pai__form_blame(f, n, PAI_EINVAL, cause) : PAI_OK;
}

int pai__json_foreign(pai__json_writer *w, const pai_alloc *alloc,
                      const char *what, const char *json, size_t len,
                      pai_error **err)
{
  pai__json_options o = { .max_bytes = PAI__TREE_MAX_TEXT, .alloc = alloc };
  pai_error *cause = NULL;
  pai__tree *tree;
  int rc = pai__json_parse(&tree, json, len, &o, &cause);

  if (rc == PAI_OK)
    pai__json_ready(w, json, len);
  else if (rc == PAI_ENOMEM)
    (void)pai__oom(err);
  else
    rc = pai__fail(err, PAI_EINVAL, "%s: this is no JSON: %s", what,
                   pai_error_message(cause));
  pai_error_free(cause);
  pai__tree_free(rc == PAI_OK ? tree : NULL);
  return rc;
}

/* --- writing -------------------------------------------------------------- */

static void put_request(pai__json_writer *w, const pai_request *from)
{
  pai_request q = { 0 };

  if (from == NULL || PAI__COPY_IN(&q, from, pai_request, nafter) < 0)
    return;
  pai__json_put_object(w, "request");
  pai__request_put(w, &q);
  pai__json_put_array(w, "wants");
  for (size_t i = 0; q.wants != NULL && i < q.nwants; i++) {
    size_t step = q.wants->struct_size;
    pai_want want = { 0 };

    if (PAI__COPY_IN(&want, (const char *)q.wants + i * step, pai_want,
                     memory) < 0)
      break;
    pai__want_put(w, &want);
  }
  pai__json_end_array(w);
  if (q.nafter != 0 && q.after != NULL) {
    pai__json_put_array(w, "after");
    for (size_t i = 0; i < q.nafter; i++)
      pai__after_put(
        w, &(pai__after_form){ .id = q.after[i].id, .kind = q.after[i].kind });
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
}

void pai__reservation_put(pai__json_writer *w, const pai_reservation *from)
{
  pai__line line = { .reservation_read = { 0 } };
  const pai_reservation *r = &line.reservation_read;

  if (PAI__COPY_IN(&line.reservation_read, from, pai_reservation, nnodes) < 0)
    return;
  pai__json_begin_object(w);
  pai__form_write(w, kept, PAI__LEN(kept), &line);
  if (r->nodes != NULL) {
    pai__json_put_array(w, "nodes");
    for (size_t i = 0; i < r->nnodes; i++)
      if (r->nodes[i] != NULL)
        pai__json_string(w, r->nodes[i]);
    pai__json_end_array(w);
  }
  pai__json_end_object(w);
}

static bool is_of_cpus(const pai_sched_event *e)
{
  return e->key != NULL && strcmp(e->key, "cpus") == 0;
}

static void put_value(pai__json_writer *w, const pai_sched_event *e)
{
  pai__json_member(w, "value");
  if (is_of_cpus(e) && e->cpu_millis != 0 && e->number >= 0)
    pai__json_milli(w, (uint64_t)e->number * 1000 + e->cpu_millis);
  else if (!pai__change_is_text(e->key))
    pai__json_int(w, e->number);
  else
    pai__json_string(w, e->text);
}

static int put_cluster(pai__json_writer *w, const pai_alloc *alloc,
                       const pai_cluster *c, pai_error **err)
{
  pai__buf text;
  int rc;

  pai__buf_init(&text, alloc);
  rc = pai_cluster_write(c, PAI_FORMAT_JSON, pai__collect, &text, err);
  if (rc == PAI_OK) {
    pai__json_member(w, "cluster");
    pai__json_ready(w, pai__buf_text(&text), text.len);
  }
  pai__buf_dispose(&text);
  return rc;
}

int pai__event_put(pai__json_writer *w, const pai_alloc *alloc,
                   const pai_sched_event *e, pai_error **err)
{
  pai__line line = { .e = *e };
  int rc = PAI_OK;

  pai__json_begin_object(w);
  pai__form_write(w, of_kind[e->kind].list, of_kind[e->kind].count, &line);
  if (e->kind == PAI_SCHED_SUBMIT) {
    put_request(w, e->request);
  } else if (e->kind == PAI_SCHED_CHANGE && e->key != NULL) {
    put_value(w, e);
  } else if (e->kind == PAI_SCHED_CLUSTER && e->cluster != NULL) {
    rc = put_cluster(w, alloc, e->cluster, err);
  } else if (e->kind == PAI_SCHED_RESERVE && e->reservation != NULL) {
    pai__json_member(w, "reservation");
    pai__reservation_put(w, e->reservation);
  } else if ((e->kind == PAI_SCHED_POLICY || e->kind == PAI_SCHED_SHADOW) &&
             e->options != NULL) {
    pai__json_member(w, "options");
    rc = pai__json_foreign(w, alloc, "the options of the policy", e->options,
                           strlen(e->options), err);
  }
  pai__json_end_object(w);
  return rc;
}

/* --- reading -------------------------------------------------------------- */

int pai__reservation_read(const pai__form *f, pai__arena *arena, pai__node n,
                          pai_reservation *out)
{
  pai__line line = { .nodes = PAI__NO_NODE };
  int rc = pai__form_read(f, n, "a reservation", kept, PAI__LEN(kept), &line);
  pai__items x = { .rc = rc };
  const char **names;
  pai__node item;

  *out = line.reservation_read;
  out->struct_size = sizeof(*out);
  if (rc == PAI_OK)
    x = pai__form_items(f, line.nodes, "nodes");
  if (x.rc < 0 || line.nodes == PAI__NO_NODE)
    return x.rc;
  out->nnodes = x.count;
  out->nodes = names = pai__arena_zalloc(arena, x.count + 1, sizeof(*names));
  if (names == NULL)
    return pai__oom(f->err);
  while ((item = pai__items_next(&x)) != PAI__NO_NODE)
    x.rc = pai__form_text(f, item, "nodes", names++);
  return x.rc;
}

static int read_value(const pai__form *f, pai__line *line)
{
  pai__node at = line->value;
  uint64_t milli;

  if (is_of_cpus(&line->e) && pai__tree_type(f->tree, at) == PAI__FLOAT &&
      pai__milli_of(&milli, f->tree, at) == PAI_OK) {
    line->e.number = (int64_t)(milli / 1000);
    line->e.cpu_millis = (uint32_t)(milli % 1000);
    return PAI_OK;
  }
  switch (pai__tree_type(f->tree, at)) {
  case PAI__NULL: return PAI_OK;
  case PAI__STRING: return pai__form_text(f, at, "value", &line->e.text);
  case PAI__INT: line->e.number = pai__tree_int(f->tree, at); return PAI_OK;
  default:
    return pai__form_fail(f, at,
                          "\"value\" is a whole number, a string or null");
  }
}

static int read_options(const pai__form *f, pai__arena *arena, pai__line *line)
{
  size_t len;

  if (line->options == PAI__NO_NODE)
    return PAI_OK;
  if (pai__tree_type(f->tree, line->options) != PAI__MAPPING)
    return pai__form_fail(f, line->options, "\"options\" is an object");
  line->e.options = pai__form_slice(f, arena, line->options, &len);
  return line->e.options != NULL ? PAI_OK : pai__oom(f->err);
}

static int read_rest(const pai__form *f, pai__arena *arena, pai__line *line)
{
  pai_sched_event *e = &line->e;

  switch (e->kind) {
  case PAI_SCHED_SUBMIT:
    e->request = &line->request_read;
    return pai__request_read(f, arena, line->request, &line->request_read,
                             NULL);
  case PAI_SCHED_CHANGE: return read_value(f, line);
  case PAI_SCHED_CLUSTER: {
    int rc =
      pai__cluster_read(f, arena->alloc, line->new_cluster, &line->cluster);

    e->cluster = line->cluster;
    return rc;
  }
  case PAI_SCHED_RESERVE:
    e->reservation = &line->reservation_read;
    return pai__reservation_read(f, arena, line->reservation,
                                 &line->reservation_read);
  case PAI_SCHED_POLICY:
  case PAI_SCHED_SHADOW: return read_options(f, arena, line);
  default: return PAI_OK;
  }
}

/* The kind is read first, as the other members depend on it. */
int pai__line_read(const pai__form *f, pai__arena *arena, pai__line *line)
{
  static const pai__field first = PAI__WORD(pai__line, e.kind, kinds, "event");
  pai__node word = pai__tree_get(f->tree, 0, "event");
  char what[48];
  int rc, kind;

  *line = (pai__line){ .e = { .struct_size = sizeof(line->e) } };
  if (pai__tree_type(f->tree, 0) != PAI__MAPPING)
    return pai__form_fail(f, 0, "a line of the log is an object");
  if (word == PAI__NO_NODE)
    return pai__form_fail(f, 0, "a line of the log needs \"event\"");
  rc = pai__form_word(f, word, &first, line);
  if (rc < 0)
    return rc;
  kind = line->e.kind;
  (void)snprintf(what, sizeof(what), "an event \"%s\"", kinds[kind]);
  rc =
    pai__form_read(f, 0, what, of_kind[kind].list, of_kind[kind].count, line);
  return rc < 0 ? rc : read_rest(f, arena, line);
}
