/* scribe.c - logs and snapshots as texts, for tests */
#include "scribe.h"

#include "sched/sched.h"

#include <stdlib.h>

int scribe_write(void *buf, const char *bytes, size_t len)
{
  pai__buf_add(buf, bytes, len);
  return PAI_OK;
}

void scribe_save(const pai_sched *s, pai__buf *out)
{
  pai__buf_init(out, &pai__libc_alloc);
  assert_ok(pai_sched_save(s, scribe_write, out, NULL));
  assert_non_null(strchr(pai__buf_text(out), '\n'));
  assert_ptr_equal(strchr(pai__buf_text(out), '\n'),
                   pai__buf_text(out) + out->len - 1);
}

void scribe_save_lean(const pai_sched *s, pai__buf *out)
{
  pai__buf_init(out, &pai__libc_alloc);
  assert_ok(pai__save_lean(s, out, NULL));
}

void scribe_decisions(const pai_sched *s, pai__buf *out)
{
  pai_decision d = { .struct_size = sizeof(d) };

  for (size_t i = 0; pai_sched_decision(s, i, &d) == PAI_OK; i++)
    assert_ok(pai_sched_write_decision(s, i, scribe_write, out, NULL));
}

pai_sched *scribe_replay(const char *log, const pai_policy *table,
                         pai__buf *decisions, size_t *line, pai_error **err)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_sched *s = NULL;

  o.table = table;
  *line = 0;
  for (const char *end; *log != '\0'; log = end + 1) {
    int rc;

    end = strchr(log, '\n');
    assert_non_null(end);
    ++*line;
    if (strncmp(log, "{\"snapshot\":", 12) == 0) {
      pai_sched_free(s);
      rc = pai_sched_load(&s, log, (size_t)(end - log), &o, err);
    } else {
      rc = pai_sched_send_json(s, log, (size_t)(end - log), err);
    }
    if (rc < 0) {
      pai_sched_free(s);
      return NULL;
    }
    if (strstr(log, "\"event\":\"decide\"") != NULL &&
        strstr(log, "\"event\":\"decide\"") < end)
      scribe_decisions(s, decisions);
  }
  return s;
}

void scribe_same(const pai__buf *a, const pai__buf *b)
{
  const char *x = pai__buf_text(a), *y = pai__buf_text(b);
  size_t i = 0;

  while (x[i] != '\0' && x[i] == y[i])
    i++;
  if (x[i] == y[i])
    return;
  print_error("they part at byte %zu:\n%.300s\n%.300s\n", i,
              x + (i > 100 ? i - 100 : 0), y + (i > 100 ? i - 100 : 0));
  fail();
}

char *scribe_quotes(const char *text)
{
  char *out = strdup(text);

  assert_non_null(out);
  for (char *at = out; *at != '\0'; at++)
    if (*at == '\'')
      *at = '"';
  return out;
}
