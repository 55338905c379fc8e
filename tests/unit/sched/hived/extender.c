/* extender.c - for tests of HiveD's extender */
#include "extender.h"

#include "base/tree.h"
#include "json/json.h"

#include <stdio.h>

/* --- JSON, without the order of what has none ----------------------------- */

typedef struct compared {
  const pai__tree *a, *b;
  char *where; /* NULL: nobody asks */
} compared;

static bool same(const compared *c, pai__node m, pai__node n, bool any_order);

static bool differs(const compared *c, pai__node m, const char *what)
{
  pai__buf b = test_buf();

  if (c->where == NULL)
    return false;
  pai__tree_pointer(c->a, m, &b);
  (void)snprintf(c->where, 256, "%s: %s", pai__buf_text(&b), what);
  pai__buf_dispose(&b);
  return false;
}

static bool same_keys(const compared *c, pai__node m, pai__node n)
{
  pai__tree_walk walk = pai__tree_iter(c->a, m);
  pai__node k, v;

  if (pai__tree_count(c->a, m) != pai__tree_count(c->b, n))
    return differs(c, m, "other keys");
  while ((k = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *key = pai__tree_str(c->a, k, NULL);
    bool any = strcmp(key, "items") == 0 || strcmp(key, "Pods") == 0;

    v = pai__tree_get(c->b, n, key);
    if (v == PAI__NO_NODE)
      return differs(c, k, "is not there");
    if (!same(c, pai__tree_value(c->a, k), v, any))
      return false;
  }
  return true;
}

static bool is_there(const compared *c, pai__node m, pai__node list)
{
  compared quiet = { c->a, c->b, NULL };
  pai__tree_walk walk = pai__tree_iter(c->b, list);
  pai__node v;

  while ((v = pai__tree_next(&walk)) != PAI__NO_NODE)
    if (same(&quiet, m, v, false))
      return true;
  return differs(c, m, "is not in the list");
}

static bool same_items(const compared *c, pai__node m, pai__node n, bool any)
{
  pai__tree_walk x = pai__tree_iter(c->a, m), y = pai__tree_iter(c->b, n);
  pai__node v, w;

  if (pai__tree_count(c->a, m) != pai__tree_count(c->b, n))
    return differs(c, m, "another number of items");
  while ((v = pai__tree_next(&x)) != PAI__NO_NODE) {
    w = pai__tree_next(&y);
    if (any ? !is_there(c, v, n) : !same(c, v, w, false))
      return false;
  }
  return true;
}

static bool same(const compared *c, pai__node m, pai__node n, bool any_order)
{
  int type = pai__tree_type(c->a, m);

  if (type != pai__tree_type(c->b, n))
    return differs(c, m, "another type");
  if (type == PAI__MAPPING)
    return same_keys(c, m, n);
  if (type == PAI__SEQUENCE)
    return same_items(c, m, n, any_order);
  return pai__tree_same(c->a, m, c->b, n) || differs(c, m, "another value");
}

bool test_same_json(const char *want, size_t want_len, const char *got,
                    size_t got_len, char where[256])
{
  compared c = { NULL, NULL, where };
  pai__tree *a = NULL, *b = NULL;
  bool is_same = false;

  (void)snprintf(where, 256, "it is no JSON");
  if (pai__json_parse(&a, want, want_len, NULL, NULL) == PAI_OK &&
      pai__json_parse(&b, got, got_len, NULL, NULL) == PAI_OK) {
    c.a = a;
    c.b = b;
    is_same = same(&c, 0, 0, false);
  }
  pai__tree_free(a);
  pai__tree_free(b);
  return is_same;
}

/* --- calls ---------------------------------------------------------------- */

void test_event(pai_hived_extender *e, const char *json)
{
  pai_error *err;

  if (pai_hived_extender_event(e, json, strlen(json), TEST_NOW, &err) < 0)
    fail_msg("%s: %s", json, pai_error_message(err));
}

pai_hived_answer test_ask(pai_hived_extender *e, const char *method,
                          const char *target, const char *body)
{
  pai_hived_answer a = { .struct_size = sizeof(a) };
  pai_hived_request q = { .struct_size = sizeof(q),
                          .method = method,
                          .target = target,
                          .body = body,
                          .now = TEST_NOW };
  pai_error *err;

  q.body_len = body != NULL ? strlen(body) : 0;
  if (pai_hived_extender_request(e, &q, &a, &err) < 0)
    fail_msg("%s %s: %s", method, target, pai_error_message(err));
  return a;
}
