/*
 * replay.c - replays a scheduler's log line by line
 *
 * A snapshot is loaded if it is the first line, follows a failure or missing
 * lines, or begins another log.  Other snapshots repeat a state that is known
 * already.
 */
#include "sim/replay/replay.h"

#include "sched/inspect.h"

enum { ASK_EVERY = 16 }; /* lines between calls of `stop` */

/* --- making -------------------------------------------------------------- */

int pai__replay_options(pai_replay_options *out,
                        const pai_replay_options *opts, pai_error **err)
{
  if (PAI__OPTIONS_IN(out, opts, pai_replay_options, stop_data) < 0)
    return pai__fail_struct(err, PAI_EINVAL, opts, "pai_replay_options");
  out->alloc = pai__alloc_or_libc(out->alloc);
  return PAI_OK;
}

static bool keep_text(const pai_replay *r, char **to, const char *text)
{
  if (text != NULL)
    *to = pai__strdup(&r->alloc, text);
  return text == NULL || *to != NULL;
}

int pai_replay_new(pai_replay **out, pai_read_at_cb read, void *user_data,
                   uint64_t size, const pai_replay_options *opts,
                   pai_error **err)
{
  pai_replay_options o;
  pai_replay *r;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_ARG_ERR(read != NULL, err);
  rc = pai__replay_options(&o, opts, err);
  if (rc < 0)
    return rc;
  r = pai__zalloc(o.alloc, sizeof(*r));
  if (r == NULL)
    return pai__oom(err);
  r->alloc = *o.alloc;
  pai__lines_init(&r->lines, &r->alloc, read, user_data, size);
  r->table = o.table;
  r->check = o.check != 0;
  r->stop = o.stop;
  r->stop_data = o.stop_data;
  if (!keep_text(r, &r->policy, o.policy) ||
      !keep_text(r, &r->policy_options, o.policy_options)) {
    pai_replay_free(r);
    return pai__oom(err);
  }
  *out = r;
  return PAI_OK;
}

void pai_replay_free(pai_replay *r)
{
  pai_alloc alloc;

  if (r == NULL)
    return;
  pai_sched_free(r->s);
  if (r->close != NULL)
    r->close(r->lines.user_data);
  pai__lines_dispose(&r->lines);
  alloc = r->alloc;
  pai__strfree(&alloc, r->policy);
  pai__strfree(&alloc, r->policy_options);
  pai__free(&alloc, r, sizeof(*r));
}

/* --- errors -------------------------------------------------------------- */

int pai__replay_blame(pai_replay *r, uint64_t at, int rc, pai_error **err)
{
  pai_error *cause = err != NULL ? *err : NULL;
  uint64_t lines = 0;
  pai__pos pos = { 0, pai_error_column(cause) };

  if (cause == NULL || rc == PAI_ENOMEM)
    return rc;
  if (pai__lines_count(&r->lines, at, &lines, NULL) == PAI_OK &&
      lines < UINT32_MAX)
    pos.line = (uint32_t)lines + 1;
  (void)pai__fail_at(err, rc, pos, "%s", pai_error_message(cause));
  if (pai_error_pointer(cause) != NULL)
    pai__error_pointer(err, pai_error_pointer(cause));
  if (pai_error_help(cause) != NULL)
    pai__error_help(err, "%s", pai_error_help(cause));
  pai_error_free(cause);
  return rc;
}

/* --- snapshots ----------------------------------------------------------- */

static int load(pai_replay *r, const pai__line_text *line, pai_error **err)
{
  pai_sched_options o = PAI_SCHED_OPTIONS_INIT;
  pai_sched *s;
  int rc;

  o.alloc = &r->alloc;
  o.table = r->table;
  o.policy = r->policy;
  o.policy_options = r->policy_options;
  rc = pai_sched_load(&s, line->text, line->len, &o, err);
  if (rc < 0)
    return rc;
  pai_sched_free(r->s);
  r->s = s;
  return PAI_OK;
}

/* Checks that the snapshot is byte for byte what the scheduler would write. */
static int compare(pai_replay *r, const pai__line_text *line, pai_error **err)
{
  pai__buf own;
  size_t i = 0;
  int rc;

  pai__buf_init(&own, &r->alloc);
  rc = pai__save_like(r->s, line->text, line->len, &own, err);
  while (rc == PAI_OK && i < own.len - 1 && i < line->len &&
         own.data[i] == line->text[i])
    i++;
  if (rc == PAI_OK && (i != own.len - 1 || i != line->len)) {
    rc = pai__fail_at(
      err, PAI_EINVAL, (pai__pos){ 1, (uint32_t)i + 1 },
      "this snapshot differs from the state after the lines before it");
    pai__error_help(err, "it has '%.40s' instead of '%.40s'",
                    i < line->len ? line->text + i : "",
                    i < own.len ? own.data + i : "");
  }
  pai__buf_dispose(&own);
  return rc;
}

/* Returns whether the snapshot repeats the current state.  If not, another log
 * follows here, or lines are missing.  *anew: it has fewer events, as after a
 * restart with a new scheduler. */
static bool repeats(const pai_replay *r, const pai__line_head *head,
                    bool *anew)
{
  pai_sched_view view = { .struct_size = sizeof(view) };

  (void)pai_sched_view_sums(r->s, &view);
  *anew = head->events >= 0 && (uint64_t)head->events < view.events;
  return head->events >= 0 && (uint64_t)head->events == view.events &&
         head->time == view.now;
}

/* Returns whether the snapshot says that lines before it are missing. */
static bool is_behind_gap(const pai__line_text *line)
{
  static const char ending[] = PAI__SNAPSHOT_GAP;
  size_t n = sizeof(ending) - 1;

  return line->len > n && memcmp(line->text + line->len - n, ending, n) == 0;
}

static int take_snapshot(pai_replay *r, const pai__line_text *line,
                         const pai__line_head *head, pai_error **err)
{
  bool failed = r->failed, anew, known;

  r->failed = false;
  if (r->s == NULL)
    return load(r, line, err);
  if (r->policy != NULL)
    return PAI_OK; /* the other policy keeps its own state */
  if (is_behind_gap(line))
    return load(r, line, err);
  known = repeats(r, head, &anew);
  if (!failed && !anew && r->check)
    return compare(r, line, err);
  return failed || !known ? load(r, line, err) : PAI_OK;
}

/* --- events -------------------------------------------------------------- */

/* Compares without blanks in the line. */
static bool begins(const char *at, const char *end, const char *part)
{
  for (; at < end && *part != '\0'; at++)
    if (*at == *part)
      part++;
    else if (*at != ' ' && *at != '\t')
      return false;
  return *part == '\0';
}

static bool has(const pai__line_text *line, const char *part)
{
  const char *at = line->text, *end = at + line->len;

  while (at < end && (at = memchr(at, part[0], (size_t)(end - at))) != NULL) {
    if (begins(at, end, part))
      return true;
    at++;
  }
  return false;
}

bool pai__is_of_others(int rc)
{
  return rc == PAI_ENOTFOUND || rc == PAI_EEXISTS || rc == PAI_EBUSY ||
         rc == PAI_ENOROOM;
}

static int take_event(pai_replay *r, const pai__line_text *line,
                      pai_error **err)
{
  pai_error *cause = NULL;
  int rc;

  if (r->policy != NULL && has(line, "\"event\":\"policy\""))
    return PAI_OK;
  rc = pai_sched_send_json(r->s, line->text, line->len, &cause);
  if (rc < 0 && r->policy != NULL && pai__is_of_others(rc)) {
    pai_error_free(cause);
    r->skipped++;
    return PAI_OK;
  }
  if (rc < 0 && err != NULL)
    *err = cause;
  else
    pai_error_free(cause);
  r->failed = has(line, "\"failed\":true");
  return rc;
}

/* The first line has to be a snapshot. */
static int take(pai_replay *r, const pai__line_text *line, pai_error **err)
{
  pai__line_head head = { .events = -1 };

  (void)pai__line_head_glance(&head, line);
  return r->s == NULL || head.snapshot ? take_snapshot(r, line, &head, err)
                                       : take_event(r, line, err);
}

/* --- steps --------------------------------------------------------------- */

static int step(pai_replay *r, const pai__line_text *line, pai_error **err)
{
  bool known = r->number != 0 || r->at == 0;
  int rc = line->len != 0 ? take(r, line, err) : 0;

  if (rc < 0)
    return pai__replay_blame(r, line->at, rc, err);
  r->decisions = (size_t)rc;
  r->number = known ? r->number + 1 : 0;
  r->taken = line->at;
  r->at = line->next;
  return 1;
}

int pai_replay_step(pai_replay *r, pai_error **err)
{
  pai__line_text line;
  int rc;

  PAI__CHECK_ARG_ERR(r != NULL, err);
  if (r->stop != NULL && r->steps++ % ASK_EVERY == 0 &&
      r->stop(r->stop_data) != 0)
    return pai__fail(err, PAI_ECANCELED, "the replay was stopped");
  rc = pai__lines_next(&r->lines, r->at, &line, err);
  if (rc == 0 && r->s == NULL)
    return pai__fail(err, PAI_EINVAL, "this log is empty");
  if (rc != 1)
    return rc;
  return step(r, &line, err);
}

const pai_sched *pai_replay_sched(const pai_replay *r)
{
  return r != NULL ? r->s : NULL;
}

size_t pai_replay_decisions(const pai_replay *r)
{
  return r != NULL ? r->decisions : 0;
}

uint64_t pai_replay_skipped(const pai_replay *r)
{
  return r != NULL ? r->skipped : 0;
}

uint64_t pai_replay_line(pai_replay *r)
{
  uint64_t lines;

  if (r == NULL || r->s == NULL)
    return 0;
  if (r->number == 0 &&
      pai__lines_count(&r->lines, r->taken, &lines, NULL) == PAI_OK)
    r->number = lines + 1;
  return r->number;
}

/* --- seeking ------------------------------------------------------------- */

/* Finds the last snapshot before `at`; only the first one is of use for
 * another policy. */
static int find_snapshot(pai_replay *r, uint64_t at, uint64_t *begin,
                         pai_error **err)
{
  *begin = 0;
  return r->policy == NULL
           ? pai__lines_last(&r->lines, at, PAI__SNAPSHOT_BEGINS, begin, err)
           : PAI_OK;
}

static int restart(pai_replay *r, uint64_t at, pai_error **err)
{
  pai_sched *old = r->s;
  uint64_t was = r->at, number = r->number;
  int rc;

  r->s = NULL;
  r->at = at;
  r->number = 0;
  do
    rc = pai_replay_step(r, err);
  while (rc == 1 && r->s == NULL);
  if (rc == 1) {
    pai_sched_free(old);
    return PAI_OK;
  }
  r->s = old;
  r->at = was;
  r->number = number;
  return rc;
}

int pai__replay_seek(pai_replay *r, uint64_t at, pai_error **err)
{
  uint64_t snapshot;
  int rc = find_snapshot(r, at, &snapshot, err);

  if (rc == PAI_OK && (r->s == NULL || r->at > at || r->at < snapshot))
    rc = restart(r, snapshot, err);
  while (rc >= 0 && r->at < at) {
    rc = pai_replay_step(r, err);
    if (rc == 0)
      break;
  }
  return rc < 0 ? rc : PAI_OK;
}
