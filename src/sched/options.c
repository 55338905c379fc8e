/* options.c - options of built-in policies */
#include "sched/policy.h"

#include "json/json.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct reading {
  const pai_policy_host *host;
  const pai__tree *tree;
  const pai__option *list;
  size_t n;
  char *out;
} reading;

static const char *const places[] = { [PAI_PLACE_PACK] = "pack",
                                      [PAI_PLACE_SPREAD] = "spread",
                                      [PAI_PLACE_TOPO] = "topo",
                                      [PAI_PLACE_FIRST] = "first",
                                      [PAI_PLACE_SCORE] = "score" };

static int fail(const reading *r, const char *fmt, ...)
{
  char text[400];
  va_list ap;

  va_start(ap, fmt);
  (void)vsnprintf(text, sizeof(text), fmt, ap);
  va_end(ap);
  return r->host->give_up(r->host, PAI_EINVAL, text);
}

static int read_place(const reading *r, const pai__option *o, pai__node value)
{
  const char *name = pai__tree_type(r->tree, value) == PAI__STRING
                       ? pai__tree_str(r->tree, value, NULL)
                       : "";
  int i = PAI_PLACE_PACK;

  while (i <= PAI_PLACE_SCORE && strcmp(places[i], name) != 0)
    i++;
  if (i > PAI_PLACE_SCORE)
    return fail(r, "\"%s\" is pack, spread, topo, first or score", o->key);
  memcpy(r->out + o->offset, &i, sizeof(i));
  return PAI_OK;
}

static int read_number(const reading *r, const pai__option *o, pai__node value)
{
  int64_t n;

  if (pai__tree_type(r->tree, value) != PAI__INT)
    return fail(r, "\"%s\" is a whole number", o->key);
  n = pai__tree_int(r->tree, value);
  if (n < o->low || n > o->high)
    return fail(r, "\"%s\" is from %" PRId64 " to %" PRId64 ", not %" PRId64,
                o->key, o->low, o->high, n);
  memcpy(r->out + o->offset, &n, sizeof(n));
  return PAI_OK;
}

static int read_flag(const reading *r, const pai__option *o, pai__node value)
{
  bool b;

  if (pai__tree_type(r->tree, value) != PAI__BOOL)
    return fail(r, "\"%s\" is true or false", o->key);
  b = pai__tree_bool(r->tree, value);
  memcpy(r->out + o->offset, &b, sizeof(b));
  return PAI_OK;
}

static int read_choice(const reading *r, const pai__option *o, pai__node value)
{
  const char *name = pai__tree_type(r->tree, value) == PAI__STRING
                       ? pai__tree_str(r->tree, value, NULL)
                       : "";
  char list[120] = "";
  size_t len = 0;

  for (int i = 0; o->choices[i] != NULL; i++) {
    if (strcmp(o->choices[i], name) == 0) {
      memcpy(r->out + o->offset, &i, sizeof(i));
      return PAI_OK;
    }
    len += (size_t)snprintf(list + len, sizeof(list) - len, "%s\"%s\"",
                            i == 0 ? "" : " or ", o->choices[i]);
    if (len >= sizeof(list))
      len = sizeof(list) - 1;
  }
  return fail(r, "\"%s\" is %s", o->key, list);
}

static int no_option(const reading *r, const char *name)
{
  char list[300] = "";
  size_t len = 0;

  for (size_t i = 0; i < r->n && len < sizeof(list); i++)
    len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s",
                            i == 0 ? "" : ", ", r->list[i].key);
  return fail(r, "the policy has no option \"%s\"; it has %s", name, list);
}

static int read_one(const reading *r, pai__node key)
{
  const char *name = pai__tree_str(r->tree, key, NULL);
  pai__node value = pai__tree_value(r->tree, key);
  size_t i = 0;

  while (i < r->n && strcmp(r->list[i].key, name) != 0)
    i++;
  if (i == r->n)
    return no_option(r, name);
  switch (r->list[i].kind) {
  case PAI__OPTION_FLAG: return read_flag(r, &r->list[i], value);
  case PAI__OPTION_PLACE: return read_place(r, &r->list[i], value);
  case PAI__OPTION_CHOICE: return read_choice(r, &r->list[i], value);
  case PAI__OPTION_OWN: return PAI_OK;
  default: return read_number(r, &r->list[i], value);
  }
}

int pai__options_read(const pai_policy_host *host, const char *text,
                      const pai__plain_type *type, void *out, pai__tree **tree)
{
  pai__json_options how = { .alloc = &host->sched->alloc };
  reading r = {
    .host = host, .list = type->options, .n = type->noptions, .out = out
  };
  pai_error *err = NULL;
  pai__tree_walk walk;
  pai__node key;
  int rc = pai__json_parse(tree, text, strlen(text), &how, &err);

  if (rc < 0) {
    rc = host->give_up(host, rc, pai_error_message(err));
    pai_error_free(err);
    return rc;
  }
  r.tree = *tree;
  if (pai__tree_type(*tree, 0) != PAI__MAPPING)
    rc = fail(&r, "options of a policy are a JSON object");
  walk = pai__tree_iter(*tree, 0);
  while (rc == PAI_OK && (key = pai__tree_next(&walk)) != PAI__NO_NODE)
    rc = read_one(&r, key);
  if (rc == PAI_OK)
    return PAI_OK;
  pai__tree_free(*tree);
  *tree = NULL;
  return rc;
}

/* --- policies whose state is their options -------------------------------- */

static void *copy_state(const pai_sched *s, const void *from, size_t size)
{
  pai__plain *p = pai__zalloc(&s->alloc, size);

  if (p == NULL)
    return NULL;
  memcpy(p, from, size);
  p->alloc = s->alloc;
  p->size = size;
  return p;
}

int pai__plain_open(void **state, void *data, const pai_policy_host *host,
                    const pai_cluster *cluster, const char *options)
{
  const pai__plain_type *type = data;
  void *p = copy_state(host->sched, type->defaults, type->size);
  pai__tree *tree;
  int rc;

  (void)cluster;
  if (p == NULL)
    return PAI_ENOMEM;
  rc = pai__options_read(host, options, type, p, &tree);
  if (rc < 0) {
    pai__plain_close(p);
    return rc;
  }
  pai__tree_free(tree);
  *state = p;
  return PAI_OK;
}

void pai__plain_close(void *state)
{
  pai__plain *p = state;
  pai_alloc alloc;

  if (p == NULL)
    return;
  alloc = p->alloc;
  pai__free(&alloc, p, p->size);
}

int pai__plain_clone(void **copy, const void *state, void *data,
                     const pai_policy_host *host)
{
  *copy =
    copy_state(host->sched, state, ((const pai__plain_type *)data)->size);
  return *copy != NULL ? PAI_OK : PAI_ENOMEM;
}

int pai__plain_save(const void *state, void *data, pai_write_cb write,
                    void *user_data)
{
  (void)state;
  (void)data;
  return write(user_data, "null", 4);
}

int pai__plain_load(void **state, void *data, const pai_policy_host *host,
                    const pai_cluster *cluster, const char *options,
                    const char *saved, size_t len)
{
  (void)saved;
  (void)len;
  return pai__plain_open(state, data, host, cluster, options);
}
