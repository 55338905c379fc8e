/*
 * Texts that are cut anywhere, or lack any part, get help without a crash, and
 * a wrong line costs only itself.
 */
#include "cases.h"
#include "language/cursor.h"

#include "base/prng.h"

/* --- all questions --------------------------------------------------------- */

static int on_span(void *user_data, pai__span span)
{
  const pai__language_text *t = user_data;

  assert_true(span.start <= span.end && span.end <= t->len);
  return PAI_OK;
}

static int on_completion(void *user_data, const pai__completion *c)
{
  return on_span(user_data, c->replaces);
}

static int on_item(void *user_data, const pai__outline_item *item)
{
  assert_true(item->whole.start <= item->at.start &&
              item->at.end <= item->whole.end);
  return on_span(user_data, item->whole);
}

static int on_reference(void *user_data, const pai__reference *r)
{
  return on_span(user_data, r->span);
}

static int on_fold(void *user_data, pai__span span,
                   enum pai__folding_kind kind)
{
  (void)kind;
  return on_span(user_data, span);
}

static int on_token(void *user_data, pai__span span, enum pai__token_type type,
                    unsigned modifiers)
{
  (void)type, (void)modifiers;
  return on_span(user_data, span);
}

static int on_link(void *user_data, pai__span span, const char *target)
{
  assert_true(strlen(target) == span.end - span.start);
  return on_span(user_data, span);
}

static int on_lens(void *user_data, pai__span span, const char *title,
                   enum pai__lens_command command)
{
  (void)command;
  assert_non_null(title);
  return on_span(user_data, span);
}

static int on_hint(void *user_data, size_t at, const char *text)
{
  assert_non_null(text);
  return on_span(user_data, (pai__span){ at, at });
}

static int on_action(void *user_data, const pai__language_action *action)
{
  assert_true(action->nedits > 0);
  return on_span(user_data, action->edits[0].span);
}

/* Asks everything at a byte. */
static int ask_all(pai__language_text *t, size_t at)
{
  pai__buf text;
  pai__span span;
  int rc, all[11];

  pai__buf_init(&text, t->alloc);
  rc = pai__hover(t, at, &span, &text);
  pai__buf_dispose(&text);
  all[0] = rc == PAI_ENOTFOUND ? PAI_OK : rc;
  all[1] = pai__complete(t, at, NULL, on_completion, t, NULL);
  all[2] = pai__outline(t, on_item, t);
  all[3] = pai__references(t, at, on_reference, t);
  all[4] = pai__folding(t, on_fold, t);
  all[5] = pai__selection(t, at, on_span, t);
  all[6] = pai__tokens(t, on_token, t);
  all[7] = pai__links(t, on_link, t);
  all[8] = pai__lenses(t, on_lens, t);
  all[9] = pai__hints(t, on_hint, t);
  all[10] = pai__more_actions(t, (pai__span){ at, at }, on_action, t);
  for (size_t i = 0; i < PAI__LEN(all); i++)
    if (all[i] != PAI_OK)
      return all[i];
  return PAI_OK;
}

static pai__language_text text_of(const char *s, size_t len)
{
  return (pai__language_text){ s, len, PAI__LANGUAGE_JOB, &pai__libc_alloc };
}

/* --- cut and torn ------------------------------------------------------------ */

static const char v1[] =
  "// a job\n{\n  \"jobName\": \"n\",\n  \"image\": \"i\",\n  \"taskRoles\": "
  "[\n    { \"name\": \"w\", \"taskNumber\": 2, \"command\": \"ls "
  "$PAI_HOST_IP_w_0\",\n      \"portList\": [{ \"label\": \"x\" }] }\n  "
  "]\n}\n";

static const char *const texts[] = { cursor_job, v1 };

TEST(cut_anywhere)
{
  for (size_t i = 0; i < PAI__LEN(texts); i++)
    for (size_t len = 0; len <= strlen(texts[i]); len++) {
      pai__language_text t = text_of(texts[i], len);

      assert_ok(ask_all(&t, len));
    }
}

/* Without random parts, and with parts at other places. */
TEST(torn_anywhere)
{
  pai__prng r = { 20 };

  for (int round = 0; round < 1500; round++) {
    const char *from = texts[round % 2];
    pai__buf b = test_buf();
    pai__language_text t;

    pai__buf_str(&b, from);
    for (uint64_t n = 1 + pai__prng_below(&r, 3); n > 0; n--) {
      size_t start = (size_t)pai__prng_below(&r, b.len);
      size_t len = (size_t)pai__prng_below(&r, 12);
      size_t to = (size_t)pai__prng_below(&r, b.len);

      if (start + len > b.len)
        len = b.len - start;
      if (pai__prng_below(&r, 2) == 0) {
        memmove(b.data + start, b.data + start + len, b.len - start - len);
        pai__buf_cut(&b, b.len - len);
      } else if (to + len <= b.len) {
        memmove(b.data + to, b.data + start, len);
      }
      if (b.len == 0)
        break;
    }
    t = text_of(b.data, b.len);
    assert_ok(ask_all(&t, (size_t)pai__prng_below(&r, b.len + 1)));
    pai__buf_dispose(&b);
  }
}

/* --- a wrong line -------------------------------------------------------------- */

static int on_role(void *user_data, const pai__outline_item *item)
{
  *(int *)user_data += item->kind == PAI__OUTLINE_ROLE;
  return PAI_OK;
}

/* Lines that no reader of YAML accepts, before any line of a job: both task
 * roles are still there. */
TEST(wrong_line_costs_itself)
{
  static const char *const wrong[] = { "@", "  - [", "name: 'x", "a: b: c",
                                       "}", "word",  "\tx: 1" };
  const char *line = cursor_job;

  for (; line != NULL; line = strchr(line, '\n')) {
    line += *line == '\n';
    for (size_t i = 0; i < PAI__LEN(wrong); i++) {
      pai__buf b = test_buf();
      pai__language_text t;
      int roles = 0;

      pai__buf_add(&b, cursor_job, (size_t)(line - cursor_job));
      pai__buf_printf(&b, "%s\n%s", wrong[i], line);
      t = text_of(b.data, b.len);
      assert_ok(pai__outline(&t, on_role, &roles));
      if (roles < 2)
        fail_msg("%d of 2 roles are left with '%s' in\n%s", roles, wrong[i],
                 b.data);
      pai__buf_dispose(&b);
    }
  }
}

/* --- limits -------------------------------------------------------------------- */

TEST(too_long_or_deep_gives_nothing)
{
  pai__buf b = test_buf();
  pai__language_text t;
  int roles = 0;

  pai__buf_str(&b, "taskRoles: { w: 1 }\n");
  while (b.len <= 4 << 20)
    pai__buf_str(&b, "# a comment that makes it longer and longer\n");
  t = text_of(b.data, b.len);
  assert_ok(pai__outline(&t, on_role, &roles));
  assert_ok(ask_all(&t, 3));
  assert_int_equal(roles, 0);
  pai__buf_clear(&b);
  for (int i = 0; i < 3000; i++)
    pai__buf_str(&b, "- ");
  t = text_of(b.data, b.len);
  assert_ok(ask_all(&t, b.len));
  pai__buf_dispose(&b);
}

TEST(other_languages_have_no_help)
{
  pai__language_text t = text_of(cursor_job, strlen(cursor_job));
  int roles = 0;

  t.kind = PAI__LANGUAGE_OTHER;
  assert_ok(ask_all(&t, 60));
  assert_ok(pai__outline(&t, on_role, &roles));
  assert_int_equal(roles, 0);
}

TEST_FAULTS(without_memory)
{
  pai__language_text t = text_of(cursor_job, strlen(cursor_job));

  t.alloc = alloc;
  return ask_all(&t, 700);
}

TEST_FAULTS(broken_without_memory)
{
  static const char broken[] = "name: x\nfoo\ntaskRoles:\n  w: { a: 1\n";
  pai__language_text t = text_of(broken, sizeof(broken) - 1);

  t.alloc = alloc;
  return ask_all(&t, 5);
}
