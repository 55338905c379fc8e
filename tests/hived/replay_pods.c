/* replay_pods.c - pods, their annotations, and what was recorded of them */
#include "json/json.h"
#include "hived/replaying.h"

/* --- pods ----------------------------------------------------------------- */

static void set_text(const hived_replay *r, char **to, char *text)
{
  pai__strfree(&r->alloc, *to);
  *to = text;
}

static void free_pod(const hived_replay *r, hived_replay_pod *p)
{
  pai__strfree(&r->alloc, p->name);
  pai__strfree(&r->alloc, p->spec);
  pai__strfree(&r->alloc, p->bound);
  pai__free(&r->alloc, p, sizeof(*p));
}

void hived_replay_forget(hived_replay *r)
{
  const pai__map_entry *e;
  size_t i = 0;

  for (size_t k = 0; k < r->npods; k++)
    free_pod(r, r->by_number[k]);
  r->npods = 0;
  pai__map_dispose(&r->pods);
  pai__map_init(&r->pods, &r->alloc);
  while ((e = pai__map_next(&r->gangs, &i)) != NULL)
    pai__strfree(&r->alloc, e->value);
  pai__map_dispose(&r->gangs);
  pai__map_init(&r->gangs, &r->alloc);
}

/* The pod of the step, which may be new. */
hived_replay_pod *hived_replay_pod_of(hived_replay *r)
{
  const char *name = hived_replay_text(r, "pod");
  hived_replay_pod *p = pai__map_get(&r->pods, name, strlen(name));

  if (p != NULL ||
      PAI__VEC_ROOM(&r->alloc, r->by_number, r->npods, r->pods_cap) < 0)
    return p;
  p = pai__zalloc(&r->alloc, sizeof(*p));
  if (p == NULL)
    return NULL;
  p->name = pai__strdup(&r->alloc, name);
  p->number = r->npods + 1;
  if (p->name == NULL || pai__map_set(&r->pods, name, strlen(name), p) < 0) {
    free_pod(r, p);
    return NULL;
  }
  r->by_number[r->npods++] = p;
  return p;
}

/* Keeps the spec that the step has, if any. */
int hived_replay_keep_spec(hived_replay *r, hived_replay_pod *p)
{
  pai__node n = pai__tree_get(r->row, 0, "spec");
  size_t len;
  const char *s;
  char *text;

  if (n != PAI__NO_NODE) {
    s = hived_replay_slice(r->row, n, &len);
  } else {
    n = pai__tree_get(r->row, 0, "annotation");
    if (n == PAI__NO_NODE || pai__tree_type(r->row, n) != PAI__STRING)
      return PAI_OK;
    s = pai__tree_str(r->row, n, &len);
  }
  text = pai__strndup(&r->alloc, s, len);
  if (text == NULL)
    return PAI_ENOMEM;
  set_text(r, &p->spec, text);
  return PAI_OK;
}

int hived_replay_read_ask(hived_replay *r, const hived_replay_pod *p,
                          pai__hived_ask *ask, pai__buf *why)
{
  const char *spec = p->spec != NULL ? p->spec : "";
  pai__buf own;
  char *name;

  pai__buf_init(&own, &r->alloc);
  pai__buf_printf(&own, "test/%s", p->name);
  name = pai__arena_strndup(&r->arena, pai__buf_text(&own), own.len);
  pai__buf_dispose(&own);
  if (name == NULL)
    return PAI_ENOMEM;
  return pai__hived_read_ask(r->engine, spec, strlen(spec), name, &r->arena,
                             ask, why);
}

/* --- what was recorded ---------------------------------------------------- */

static pai__node expect_of(const hived_replay *r)
{
  return pai__tree_get(r->row, 0, "expect");
}

bool hived_replay_is_kind(const hived_replay *r, pai__node n, const char *kind)
{
  pai__node k = n != PAI__NO_NODE ? pai__tree_get(r->row, n, "kind") : n;

  return k != PAI__NO_NODE && pai__tree_type(r->row, k) == PAI__STRING &&
         strcmp(pai__tree_str(r->row, k, NULL), kind) == 0;
}

static void put_slice(const hived_replay *r, pai__node n, const char *key,
                      pai__buf *out)
{
  pai__node v = pai__tree_get(r->row, n, key);
  size_t len = 4;
  const char *s = "null";

  if (v != PAI__NO_NODE)
    s = hived_replay_slice(r->row, v, &len);
  pai__buf_printf(out, "\"%s\":", key);
  pai__buf_add(out, s, len);
}

/* The gang of a bind result: its own, or the last that was recorded. */
static const char *gang_of(const hived_replay *r, pai__node n,
                           const char *group, size_t *len)
{
  pai__node v = pai__tree_get(r->row, n, "group");
  const char *s;

  if (v != PAI__NO_NODE)
    return hived_replay_slice(r->row, v, len);
  s = pai__map_get(&r->gangs, group, strlen(group));
  s = s != NULL ? s : "[]";
  *len = strlen(s);
  return s;
}

/* A recorded result as we write ours. */
void hived_replay_put_expected(const hived_replay *r, pai__node n,
                               const char *group, pai__buf *out)
{
  const char *s;
  size_t len;

  pai__buf_clear(out);
  if (!hived_replay_is_kind(r, n, "bind")) {
    s = hived_replay_slice(r->row, n, &len);
    pai__buf_add(out, s, len);
    return;
  }
  s = gang_of(r, n, group, &len);
  pai__buf_str(out, "{\"kind\":\"bind\",");
  put_slice(r, n, "node", out);
  pai__buf_char(out, ',');
  put_slice(r, n, "leafCells", out);
  pai__buf_char(out, ',');
  put_slice(r, n, "chain", out);
  pai__buf_str(out, ",\"group\":");
  pai__buf_add(out, s, len);
  pai__buf_char(out, '}');
}

/* The items of what may be no list, and may be missing. */
static pai__tree_walk walk_list(const hived_replay *r, pai__node list)
{
  pai__tree_walk none = { r->row, NULL, 0, 0, false };

  if (list == PAI__NO_NODE || pai__tree_type(r->row, list) != PAI__SEQUENCE)
    return none;
  return pai__tree_iter(r->row, list);
}

static void put_string(const hived_replay *r, pai__node n, pai__json_writer *w)
{
  bool is_text = n != PAI__NO_NODE && pai__tree_type(r->row, n) == PAI__STRING;

  hived_replay_put_text(w, is_text ? pai__tree_str(r->row, n, NULL) : "");
}

static void put_types(const hived_replay *r, pai__node pod, uint32_t n,
                      pai__json_writer *w)
{
  pai__node type = pai__tree_get(r->row, pod, "type");
  pai__node types = pai__tree_get(r->row, pod, "types"), item;
  pai__tree_walk walk = walk_list(r, types);

  if (type == PAI__NO_NODE && types == PAI__NO_NODE)
    return;
  hived_replay_put_key(w, "preassignedCellTypes");
  pai__json_begin_array(w);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE)
    put_string(r, item, w);
  while (types == PAI__NO_NODE && n-- > 0)
    put_string(r, type, w);
  pai__json_end_array(w);
}

/* A list of numbers; returns how many. */
static uint32_t put_numbers(const hived_replay *r, pai__node list,
                            const char *key, pai__json_writer *w)
{
  pai__tree_walk walk = walk_list(r, list);
  uint32_t n = walk.left;
  pai__node item;

  hived_replay_put_key(w, key);
  pai__json_begin_array(w);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE)
    pai__json_int(w, pai__tree_type(r->row, item) == PAI__INT
                       ? pai__tree_int(r->row, item)
                       : -1);
  pai__json_end_array(w);
  return n;
}

static void put_placements(const hived_replay *r, pai__node gang,
                           pai__json_writer *w)
{
  pai__tree_walk walk = walk_list(r, gang), pods;
  pai__node item, pod;

  hived_replay_put_key(w, "affinityGroupBindInfo");
  pai__json_begin_array(w);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    pai__json_begin_object(w);
    hived_replay_put_key(w, "podPlacements");
    pai__json_begin_array(w);
    pods = walk_list(r, item);
    while ((pod = pai__tree_next(&pods)) != PAI__NO_NODE) {
      uint32_t n;

      pai__json_begin_object(w);
      hived_replay_put_key(w, "physicalNode");
      put_string(r, pai__tree_get(r->row, pod, "node"), w);
      n = put_numbers(r, pai__tree_get(r->row, pod, "idx"),
                      "physicalLeafCellIndices", w);
      put_types(r, pod, n, w);
      pai__json_end_object(w);
    }
    pai__json_end_array(w);
    pai__json_end_object(w);
  }
  pai__json_end_array(w);
}

/* Keeps a recorded decision to bind as the pod's bind info. */
int hived_replay_keep_bound(hived_replay *r, hived_replay_pod *p,
                            const char *group)
{
  pai__json_options opts = { .alloc = &r->alloc };
  pai__tree *row = r->row;
  pai__json_writer w;
  pai__tree *whole;
  pai__buf b, info;
  size_t len;
  const char *gang = gang_of(r, expect_of(r), group, &len);
  char *kept = pai__strndup(&r->alloc, gang, len), *old;
  int rc = kept != NULL ? PAI_OK : PAI_ENOMEM;

  old = pai__map_get(&r->gangs, group, strlen(group));
  if (rc == PAI_OK)
    rc = pai__map_set(&r->gangs, group, strlen(group), kept);
  pai__strfree(&r->alloc, rc == PAI_OK ? old : kept);
  if (rc < 0)
    return rc;
  pai__buf_init(&b, &r->alloc);
  pai__buf_init(&info, &r->alloc);
  hived_replay_put_expected(r, expect_of(r), group, &b);
  rc = pai__buf_ok(&b)
         ? pai__json_parse(&whole, pai__buf_text(&b), b.len, &opts, NULL)
         : PAI_ENOMEM;
  if (rc == PAI_OK) {
    r->row = whole;
    pai__json_writer_init(&w, &info, false);
    pai__json_begin_object(&w);
    hived_replay_put_key(&w, "node");
    hived_replay_put_text(&w, hived_replay_text(r, "node"));
    (void)put_numbers(r, pai__tree_get(whole, 0, "leafCells"),
                      "leafCellIsolation", &w);
    hived_replay_put_key(&w, "cellChain");
    hived_replay_put_text(&w, hived_replay_text(r, "chain"));
    put_placements(r, pai__tree_get(whole, 0, "group"), &w);
    pai__json_end_object(&w);
    rc = pai__json_finish(&w);
    r->row = row;
    pai__tree_free(whole);
  }
  if (rc == PAI_OK) {
    char *text = pai__buf_take(&info);

    rc = text != NULL ? PAI_OK : PAI_ENOMEM;
    if (text != NULL)
      set_text(r, &p->bound, text);
  }
  pai__buf_dispose(&b);
  pai__buf_dispose(&info);
  return rc;
}
