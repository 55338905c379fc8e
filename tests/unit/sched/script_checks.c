/* script_checks.c - checks of scripts: see script.h */
#include "script_run.h"

#include "script_fields.h"
#include "scribe.h"

#include <inttypes.h>
#include <stdio.h>

static void check_members(const script_run *r, size_t from,
                          const script_field *list, const void *object, int rc)
{
  char is[64], said[SCRIPT_LINE];

  if (r->code != NULL) {
    (void)script_expect_code(r, rc, NULL);
    return;
  }
  if (rc < 0)
    script_fails(r, pai_code_name(rc));
  for (size_t i = from; i < r->n; i++)
    if (!script_is(list, object, r->words[i], is)) {
      (void)snprintf(said, sizeof(said), "%s is %s", r->words[i], is);
      script_fails(r, said);
    }
}

static void check_reason(const script_run *r)
{
  pai_reason v = { .struct_size = sizeof(v) };
  int rc = pai_sched_reason(r->s, script_number_of(r, script_word(r, 1)), &v);

  check_members(r, 2, script_reason, &v, rc);
  if (r->text != NULL)
    script_expect_parts(r, v.text != NULL ? v.text : "");
}

static void check_request(const script_run *r)
{
  pai_request_view v = { .struct_size = sizeof(v) };
  int rc =
    pai_sched_view_request(r->s, script_number_of(r, script_word(r, 1)), &v);

  check_members(r, 2, script_request_view, &v, rc);
}

static void check_want(const script_run *r)
{
  pai_want v = { .struct_size = sizeof(v) };
  int rc =
    pai_sched_view_want(r->s, script_number_of(r, script_word(r, 1)),
                        (uint32_t)script_number_of(r, script_word(r, 2)), &v);

  check_members(r, 3, script_want, &v, rc);
}

static void check_node(const script_run *r)
{
  pai_sched_node_view v = { .struct_size = sizeof(v) };
  int rc =
    pai_sched_view_node(r->s, script_number_of(r, script_word(r, 1)), &v);

  check_members(r, 2, script_node_view, &v, rc);
}

static void check_vc(const script_run *r)
{
  pai_sched_vc_view v = { .struct_size = sizeof(v) };
  int rc = pai_sched_view_vc(r->s, script_number_of(r, script_word(r, 1)), &v);

  check_members(r, 2, script_vc_view, &v, rc);
}

static void check_sums(const script_run *r)
{
  pai_sched_view v = { .struct_size = sizeof(v) };
  int rc = pai_sched_view_sums(r->s, &v);

  check_members(r, 1, script_sums, &v, rc);
}

static void check_lack(const script_run *r)
{
  for (size_t i = 1; i < r->n; i += 2) {
    const char *is = scene_lack(r->s, script_number_of(r, r->words[i]));
    const char *expected = script_word(r, i + 1);

    if (strcmp(is, strcmp(expected, "-") == 0 ? "" : expected) != 0)
      script_fails(r, is);
  }
}

static void check_until(const script_run *r)
{
  pai_reason v = { .struct_size = sizeof(v) };

  for (size_t i = 1; i < r->n; i += 2) {
    char said[64];
    int rc = pai_sched_reason(r->s, script_number_of(r, r->words[i]), &v);

    (void)snprintf(said, sizeof(said), "%d, %" PRId64, rc, v.until);
    if (rc < 0 ||
        v.until != (pai_time)script_number_of(r, script_word(r, i + 1)))
      script_fails(r, said);
  }
}

static void check_places(const script_run *r)
{
  uint64_t id, last;
  uint32_t instance = 0;
  char expected[SCRIPT_LINE] = "";
  size_t at = 0;
  const char *is;

  script_read_id(r, &id, &last, &instance);
  for (size_t i = 2; i < r->n && strcmp(r->words[i], "-") != 0; i++)
    at += (size_t)snprintf(expected + at, sizeof(expected) - at, "%s%s",
                           at != 0 ? " " : "", r->words[i]);
  is = scene_places(r->s, id, instance);
  if (strcmp(is, expected) != 0)
    script_fails(r, is);
}

static void check_failed(const script_run *r)
{
  int lack = 0;

  while (lack < PAI_LACKS &&
         strcmp(pai_lack_name(lack), script_word(r, 2)) != 0)
    lack++;
  if (pai_sched_failed(r->s, script_number_of(r, script_word(r, 1)), lack) !=
      script_number_of(r, script_word(r, 3)))
    script_fails(r, "another number of nodes");
}

static void check_next(const script_run *r)
{
  pai_time is = pai_sched_next_time(r->s);

  if (strcmp(script_word(r, 1), "never") == 0
        ? is != INT64_MAX
        : is != (pai_time)script_number_of(r, script_word(r, 1)))
    script_fails(r, "the next time is another");
}

static int check_told(const script_run *r, bool whole)
{
  int format = r->n > 2 && strcmp(r->words[2], "json") == 0 ? PAI_FORMAT_JSON
                                                            : PAI_FORMAT_TEXT;
  pai__buf b = test_buf();
  int rc;

  rc = pai_sched_explain(r->s, script_number_of(r, script_word(r, 1)), format,
                         scribe_write, &b, NULL);
  rc = script_expect_code(r, rc, NULL);
  if (rc == PAI_OK && !whole)
    script_expect_parts(r, pai__buf_text(&b));
  else if (rc == PAI_OK && (strlen(r->text) + 1 != b.len ||
                            strncmp(r->text, b.data, b.len - 1) != 0))
    script_fails(r, pai__buf_text(&b));
  pai__buf_dispose(&b);
  return rc;
}

bool script_check(const script_run *r, int *rc)
{
  static const struct {
    const char *verb;
    void (*check)(const script_run *r);
  } verbs[] = {
    { "lack", check_lack },     { "until", check_until },
    { "places", check_places }, { "failed", check_failed },
    { "next", check_next },     { "reason", check_reason },
    { "want", check_want },     { "request", check_request },
    { "vc", check_vc },         { "node", check_node },
    { "sums", check_sums },
  };

  for (size_t i = 0; i < PAI__LEN(verbs); i++)
    if (strcmp(script_word(r, 0), verbs[i].verb) == 0) {
      verbs[i].check(r);
      return true;
    }
  if (strncmp(script_word(r, 0), "explain", 7) != 0)
    return false;
  *rc = check_told(r, r->words[0][7] == 's');
  return true;
}
