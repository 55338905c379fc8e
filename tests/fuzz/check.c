/* check.c - invariants of trees and round trips through both writers */
#include "check.h"
#include "json/json.h"
#include "json/writer.h"
#include "yaml/writer.h"
#include "yaml/yaml.h"

static void check_written(const pai__tree *t, pai__node n)
{
  const pai__tree_node *p = &t->nodes[n];
  uint32_t at = p->start;
  pai__pos start = pai__tree_pos(t, p->start), end = pai__tree_pos(t, p->end);

  CHECK(p->start <= p->end && p->end <= t->len);
  CHECK(p->skip > n && p->skip <= t->count);
  CHECK(start.line >= 1 && start.column >= 1 && start.line <= end.line);
  for (pai__node c = n + 1; c < p->skip; c = t->nodes[c].skip) {
    CHECK(t->nodes[c].start >= at && t->nodes[c].end <= p->end);
    at = t->nodes[c].end;
  }
  if (p->type == PAI__ALIAS) {
    CHECK(p->u.target < t->count);
    CHECK(t->nodes[p->u.target].type != PAI__ALIAS);
  }
}

static void check_entries(const pai__tree *t, pai__node n)
{
  pai__tree_walk w = pai__tree_iter(t, n);
  uint32_t count = 0;
  pai__node key;

  for (; (key = pai__tree_next(&w)) != PAI__NO_NODE; count++) {
    size_t len;
    const char *s = pai__tree_str(t, key, &len);

    CHECK(t->nodes[key].type == PAI__STRING && s[len] == '\0');
    CHECK((t->nodes[key].flags & PAI__IS_KEY) != 0);
    CHECK(pai__tree_find(t, n, s, len) == key);
  }
  CHECK(count == pai__tree_count(t, n));
}

void check_tree(const pai__tree *t)
{
  CHECK(t->count > 0 && t->nodes[0].skip == t->count);
  for (pai__node n = 0; n < t->count; n++) {
    check_written(t, n);
    if (t->nodes[n].type == PAI__MAPPING)
      check_entries(t, n);
  }
}

void check_error(const pai_error *err, int rc)
{
  CHECK(err != NULL && pai_error_code(err) == rc);
  CHECK(pai_error_message(err)[0] != '\0');
  CHECK(strchr(pai_error_message(err), '\n') == NULL);
}

/* --- round trips -------------------------------------------------------- */

static void put_json(pai__json_writer *w, const pai__tree *t, pai__node n)
{
  pai__tree_walk walk = pai__tree_iter(t, n);
  pai__node child;
  const char *s;
  size_t len;

  switch (pai__tree_type(t, n)) {
  case PAI__NULL: pai__json_null(w); break;
  case PAI__BOOL: pai__json_bool(w, pai__tree_bool(t, n)); break;
  case PAI__TIMESTAMP:
  case PAI__INT: pai__json_int(w, pai__tree_int(t, n)); break;
  case PAI__FLOAT: pai__json_double(w, pai__tree_float(t, n)); break;
  case PAI__SEQUENCE:
    pai__json_begin_array(w);
    while ((child = pai__tree_next(&walk)) != PAI__NO_NODE)
      put_json(w, t, child);
    pai__json_end_array(w);
    break;
  case PAI__MAPPING:
    pai__json_begin_object(w);
    while ((child = pai__tree_next(&walk)) != PAI__NO_NODE) {
      s = pai__tree_str(t, child, &len);
      pai__json_key(w, s, len);
      put_json(w, t, pai__tree_value(t, child));
    }
    pai__json_end_object(w);
    break;
  default:
    s = pai__tree_str(t, n, &len);
    pai__json_text(w, s, len);
    break;
  }
}

static void put_yaml(pai__yaml_writer *w, const pai__tree *t, pai__node n)
{
  pai__tree_walk walk = pai__tree_iter(t, n);
  pai__node child;
  const char *s;
  size_t len;

  switch (pai__tree_type(t, n)) {
  case PAI__NULL: pai__yaml_nothing(w); break;
  case PAI__BOOL: pai__yaml_boolean(w, pai__tree_bool(t, n)); break;
  case PAI__TIMESTAMP:
  case PAI__INT: pai__yaml_int(w, pai__tree_int(t, n)); break;
  case PAI__FLOAT: pai__yaml_double(w, pai__tree_float(t, n)); break;
  case PAI__SEQUENCE:
    pai__yaml_begin_sequence(w);
    while ((child = pai__tree_next(&walk)) != PAI__NO_NODE)
      put_yaml(w, t, child);
    pai__yaml_end_sequence(w);
    break;
  case PAI__MAPPING:
    pai__yaml_begin_mapping(w);
    while ((child = pai__tree_next(&walk)) != PAI__NO_NODE) {
      s = pai__tree_str(t, child, &len);
      pai__yaml_key(w, s, len);
      put_yaml(w, t, pai__tree_value(t, child));
    }
    pai__yaml_end_mapping(w);
    break;
  default:
    s = pai__tree_str(t, n, &len);
    pai__yaml_text(w, s, len);
    break;
  }
}

static void write_json(pai__buf *out, const pai__tree *t)
{
  pai__json_writer w;

  pai__buf_init(out, &pai__libc_alloc);
  pai__json_writer_init(&w, out, false);
  put_json(&w, t, 0);
  CHECK(pai__json_finish(&w) == PAI_OK);
}

/* What t holds must be this JSON. */
static void check_same(const pai__tree *t, const pai__buf *json)
{
  pai__buf again;

  check_tree(t);
  write_json(&again, t);
  CHECK(again.len == json->len);
  CHECK(memcmp(again.data, json->data, json->len) == 0);
  pai__buf_dispose(&again);
}

void check_round_trips(const pai__tree *t, int yaml_mode)
{
  pai__yaml_options opts = { .mode = yaml_mode };
  pai__yaml_writer w;
  pai__buf json, yaml;
  pai__tree *back;

  write_json(&json, t);
  CHECK(pai__json_parse(&back, json.data, json.len, NULL, NULL) == PAI_OK);
  check_same(back, &json);
  pai__tree_free(back);
  pai__buf_init(&yaml, &pai__libc_alloc);
  pai__yaml_writer_init(&w, &yaml);
  put_yaml(&w, t, 0);
  CHECK(pai__yaml_finish(&w) == PAI_OK);
  CHECK(pai__yaml_parse(&back, yaml.data, yaml.len, &opts, NULL) == PAI_OK);
  check_same(back, &json);
  pai__tree_free(back);
  pai__buf_dispose(&yaml);
  pai__buf_dispose(&json);
}
