/*
 * log.c - the log: a snapshot, and then a line for each event and decision
 *
 * A line is made before its event is taken, and written after that: without
 * memory for it nothing has happened.
 */
#include "sched/event_form.h"
#include "sched/sched.h"

#include "json/json.h"

/* For what pai__log_taken() adds. */
#define ENDING "\"failed\":true}\n"

enum { LEAST = 65536 }; /* bytes of lines between snapshots, if nobody says */

/* --- writing -------------------------------------------------------------- */

static int make_line(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  pai__json_writer w;
  int rc;

  pai__buf_clear(&s->line);
  pai__json_writer_init(&w, &s->line, false);
  rc = pai__event_put(&w, &s->alloc, e, err);
  if (rc < 0)
    return rc;
  if (pai__json_finish(&w) < 0 || !pai__buf_reserve(&s->line, sizeof(ENDING)))
    return pai__oom(err);
  return PAI_OK;
}

int pai__log_event(pai_sched *s, const pai_sched_event *e, pai_error **err)
{
  return s->log != NULL ? make_line(s, e, err) : PAI_OK;
}

int pai__log_decide(pai_sched *s, pai_time now, pai_error **err)
{
  pai_sched_event e = { .kind = PAI__LINE_DECIDE, .time = now };

  return pai__log_event(s, &e, err);
}

static int write_snapshot(pai_sched *s, pai_error **err)
{
  int rc;

  pai__buf_clear(&s->line);
  s->log_since = 0;
  rc = pai__save(s, &s->line, err);
  if (rc < 0)
    return rc;
  s->log_last = s->line.len;
  rc = s->log(s->log_data, pai__buf_text(&s->line), s->line.len);
  return rc < 0 ? pai__fail(err, rc, "the snapshot could not be written")
                : PAI_OK;
}

/* One in the middle, when those who begin there read so much less that it is
 * worth its bytes.  The log goes on without it. */
static int add_snapshot(pai_sched *s)
{
  s->log_since += s->line.len;
  if (s->log_every == 0 || s->log_since < s->log_every ||
      s->log_since / 2 < s->log_last)
    return PAI_OK;
  pai__buf_clear(&s->line);
  s->log_since = 0;
  if (pai__save_lean(s, &s->line, NULL) < 0)
    return PAI_OK;
  s->log_last = s->line.len;
  return s->log(s->log_data, pai__buf_text(&s->line), s->line.len);
}

/* Behind what failed stands a snapshot: whoever reads the log need not fail
 * likewise to go on alike. */
int pai__log_taken(pai_sched *s, int rc, pai_error **err)
{
  int put;

  if (s->log == NULL)
    return rc;
  if (rc < 0) {
    pai__buf_cut(&s->line, s->line.len - 1);
    pai__buf_str(&s->line, ",");
    pai__buf_str(&s->line, ENDING);
  } else {
    pai__buf_char(&s->line, '\n');
  }
  put = s->log(s->log_data, pai__buf_text(&s->line), s->line.len);
  if (put >= 0 && rc < 0)
    put = write_snapshot(s, NULL);
  else if (put >= 0)
    put = add_snapshot(s);
  if (put >= 0)
    return rc;
  s->log = NULL;
  return rc < 0 ? rc
                : pai__fail(err, put,
                            "it was taken, but could not be written to the "
                            "log, which ends here");
}

int pai_sched_set_log(pai_sched *s, pai_write_cb write, void *user_data,
                      pai_error **err)
{
  int rc = PAI_OK;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(s != NULL, err);
  if (s->deciding)
    return pai__fail(err, PAI_EBUSY, "a policy cannot begin a log");
  s->log = write;
  s->log_data = user_data;
  if (write != NULL)
    rc = write_snapshot(s, err);
  if (rc < 0)
    s->log = NULL;
  return rc;
}

int pai_sched_set_log_options(pai_sched *s, const pai_sched_log_options *opts,
                              pai_error **err)
{
  pai_sched_log_options o = { 0 };

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(s != NULL && opts != NULL, err);
  if (PAI__OPTIONS_IN(&o, opts, pai_sched_log_options, every) < 0)
    return pai__fail_struct(err, PAI_EINVAL, opts, "pai_sched_log_options");
  s->log_every = o.snapshots == 0 ? 0 : o.every != 0 ? o.every : LEAST;
  return PAI_OK;
}

/* --- reading -------------------------------------------------------------- */

/* What a line tells was taken before: whether it failed as it did then does
 * not count. */
static int excuse(int rc, int instead, bool taken, pai_error **err)
{
  if (rc >= 0 || !taken || rc == PAI_ENOMEM)
    return rc;
  if (err != NULL) {
    pai_error_free(*err);
    *err = NULL;
  }
  return instead;
}

static int take(pai_sched *s, const pai__line *line, pai_error **err)
{
  uint64_t before = s->m.events;
  int rc;

  if (line->e.kind != PAI__LINE_DECIDE) {
    rc = pai_sched_send(s, &line->e, err);
    return line->failed ? excuse(rc, PAI_OK, s->m.events != before, err) : rc;
  }
  rc = pai_sched_decide(s, line->e.time, err);
  return line->failed ? excuse(rc, (int)s->told, s->m.events != before, err)
                      : rc;
}

static int read_line(pai_sched *s, const pai__tree *tree, pai_error **err)
{
  pai__form f = { tree, err };
  pai__line line;
  pai__arena arena;
  int rc;

  if (pai__tree_get(tree, 0, "snapshot") != PAI__NO_NODE)
    return pai__form_fail(&f, 0,
                          "this is a snapshot, with which a log begins, and "
                          "no event");
  pai__arena_init(&arena, &s->alloc);
  rc = pai__line_read(&f, &arena, &line);
  if (rc == PAI_OK)
    rc = take(s, &line, err);
  pai_cluster_free(line.cluster);
  pai__arena_dispose(&arena);
  return rc;
}

int pai_sched_send_json(pai_sched *s, const char *text, size_t len,
                        pai_error **err)
{
  pai__json_options o = { .max_bytes = PAI__TREE_MAX_TEXT };
  pai__tree *tree;
  int rc;

  if (err != NULL)
    *err = NULL;
  PAI__CHECK_ARG_ERR(s != NULL && text != NULL, err);
  o.alloc = &s->alloc;
  rc = pai__json_parse(&tree, text, len, &o, err);
  if (rc < 0)
    return rc;
  rc = read_line(s, tree, err);
  pai__tree_free(tree);
  return rc;
}
