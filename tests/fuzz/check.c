/* check.c - errors, and round trips through both writers */
#include "check.h"
#include "json/json.h"
#include "json/writer.h"
#include "yaml/writer.h"
#include "yaml/yaml.h"

void test_does_not_hold(const char *file, int line, const char *what)
{
  (void)fprintf(stderr, "%s:%d: %s does not hold\n", file, line, what);
  abort();
}

void check_error(const pai_error *err, int rc)
{
  CHECK(err != NULL && pai_error_code(err) == rc);
  CHECK(pai_error_message(err)[0] != '\0');
  CHECK(strchr(pai_error_message(err), '\n') == NULL);
}

/* --- schedulers -------------------------------------------------------- */

bool check_small(const pai_sched *s)
{
  uint64_t tasks = 0, id = 0;

  while ((id = pai_sched_next(s, id)) != 0) {
    pai_request_view r = { .struct_size = sizeof(r) };
    uint64_t gang = 0;

    CHECK(pai_sched_view_request(s, id, &r) == PAI_OK);
    for (uint32_t i = 0; i < r.wants; i++) {
      pai_want want = { .struct_size = sizeof(want) };

      CHECK(pai_sched_view_want(s, id, i, &want) == PAI_OK);
      gang += want.tasks * (uint64_t)(1 + want.ports);
    }
    tasks += gang * (r.waiting + r.running);
  }
  return tasks < 20000;
}

/* --- round trips -------------------------------------------------------- */

static void write_json(pai__buf *out, const pai__tree *t)
{
  pai__json_writer w;

  pai__buf_init(out, &pai__libc_alloc);
  pai__json_writer_init(&w, out, false);
  test_write_tree(&test_json_table, &w, t, 0);
  CHECK(pai__json_finish(&w) == PAI_OK);
}

/* What t holds must be this JSON. */
static void check_same(const pai__tree *t, const pai__buf *json)
{
  pai__buf again;

  test_check_tree(t);
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
  test_write_tree(&test_yaml_table, &w, t, 0);
  CHECK(pai__yaml_finish(&w) == PAI_OK);
  CHECK(pai__yaml_parse(&back, yaml.data, yaml.len, &opts, NULL) == PAI_OK);
  check_same(back, &json);
  pai__tree_free(back);
  pai__buf_dispose(&yaml);
  pai__buf_dispose(&json);
}
