/*
 * replay_seek.c - seeks to a time in a log
 *
 * Lines are in order of time, so the place is found by binary search.
 */
#include "sim/replay/replay.h"

#include "json/json.h"

enum { NEAR = 65536 }; /* bytes at which the search ends */

static int head_at(pai_replay *r, uint64_t at, pai__line_text *line,
                   pai__line_head *head, pai_error **err)
{
  int rc = pai__lines_get(&r->lines, at, line, err);

  if (rc != 1)
    return rc;
  rc = pai__line_head_read(head, line, &r->alloc, err);
  return rc < 0 ? pai__replay_blame(r, line->at, rc, err) : 1;
}

/* --- range of times ------------------------------------------------------ */

/* Returns whether the last line was cut off while it was written. */
static bool is_cut(const pai_replay *r, const pai__line_text *line)
{
  pai__json_options o = { .max_bytes = PAI__TREE_MAX_TEXT };
  pai__tree *tree;
  int rc;

  if (line->whole)
    return false;
  o.alloc = &r->alloc;
  rc = pai__json_parse(&tree, line->text, line->len, &o, NULL);
  pai__tree_free(tree);
  return rc == PAI_EINVAL;
}

static int find_last(pai_replay *r, pai__line_text *line, pai__line_head *head,
                     pai_error **err)
{
  uint64_t begin = r->lines.size;
  int rc;

  do {
    rc = pai__lines_last(&r->lines, begin, "", &begin, err);
    if (rc == PAI_OK)
      rc = pai__lines_get(&r->lines, begin, line, err);
  } while (begin != 0 && (rc == 0 || (rc == 1 && is_cut(r, line))));
  return rc == 1 ? head_at(r, begin, line, head, err) : rc;
}

static int find_range(pai_replay *r, pai_error **err)
{
  pai__line_text line;
  pai__line_head head = { 0 };
  int rc = head_at(r, 0, &line, &head, err);

  if (rc == 0)
    return pai__fail(err, PAI_EINVAL, "this log is empty");
  if (rc < 0)
    return rc;
  if (!head.snapshot)
    return pai__replay_blame(
      r, line.at,
      pai__fail(err, PAI_EINVAL, "a scheduler log must begin with a snapshot"),
      err);
  r->begin = head.time;
  rc = find_last(r, &line, &head, err);
  if (rc < 0)
    return rc;
  r->end = head.time > r->begin ? head.time : r->begin;
  r->last = line.at;
  r->dated = r->begin >= INT64_C(946684800000000); /* 2000 */
  r->ranged = true;
  return PAI_OK;
}

int pai_replay_range(pai_replay *r, pai_time *begin, pai_time *end,
                     pai_error **err)
{
  int rc = PAI_OK;

  PAI__CHECK_ARG_ERR(r != NULL && begin != NULL && end != NULL, err);
  *begin = *end = 0;
  if (!r->ranged)
    rc = find_range(r, err);
  if (rc < 0)
    return rc;
  *begin = r->begin;
  *end = r->end;
  return PAI_OK;
}

/* --- seeking ------------------------------------------------------------- */

/* Finds *behind so that lines from there on are later than `time`, and lines
 * more than NEAR before it are not. */
static int find_time(pai_replay *r, pai_time time, uint64_t *behind,
                     pai_error **err)
{
  uint64_t low = 0, high = r->lines.size, begin;
  pai__line_text line;
  pai__line_head head = { 0 };
  int rc = PAI_OK;

  while (rc >= 0 && high - low > NEAR) {
    uint64_t middle = low + (high - low) / 2;

    rc = pai__lines_behind(&r->lines, middle, &begin, err);
    if (rc == PAI_OK && begin < high && begin <= r->last)
      rc = head_at(r, begin, &line, &head, err);
    else if (rc == PAI_OK)
      begin = high;
    if (rc < 0)
      return rc;
    if (begin < high && head.time <= time)
      low = begin;
    else
      high = middle + 1;
  }
  *behind = high;
  return rc < 0 ? rc : PAI_OK;
}

/* Finds the last snapshot that is not later than `time`. */
static int find_start(pai_replay *r, pai_time time, uint64_t *at,
                      pai_error **err)
{
  pai__line_text line;
  pai__line_head head = { 0 };
  uint64_t behind;
  int rc;

  *at = 0;
  if (r->policy != NULL)
    return PAI_OK;
  rc = find_time(r, time, &behind, err);
  if (rc < 0)
    return rc;
  while (rc >= 0) {
    rc = pai__lines_last(&r->lines, behind, PAI__SNAPSHOT_BEGINS, at, err);
    if (rc < 0 || *at == 0)
      return rc;
    rc = head_at(r, *at, &line, &head, err);
    if (rc == 1 && head.time <= time)
      return PAI_OK;
    behind = *at;
  }
  return rc;
}

/* Returns whether no later line was taken. */
static bool is_before(const pai_replay *r, pai_time time)
{
  pai_sched_view view = { .struct_size = sizeof(view) };

  return pai_sched_view_sums(r->s, &view) == PAI_OK && view.now <= time;
}

int pai_replay_step_until(pai_replay *r, pai_time time, pai_error **err)
{
  pai__line_text line;
  pai__line_head head = { 0 };
  pai_time begin = 0, end = 0;
  int rc = pai_replay_range(r, &begin, &end, err);

  if (rc < 0)
    return rc;
  if (r->at > r->last)
    return 0;
  rc = head_at(r, r->at, &line, &head, err);
  return rc != 1 ? rc : head.time <= time ? pai_replay_step(r, err) : 0;
}

static int out_of_range(const pai_replay *r, pai_time time, pai_error **err)
{
  char when[PAI_REPLAY_TIME], begin[PAI_REPLAY_TIME], end[PAI_REPLAY_TIME];
  int rc = pai__fail(err, PAI_ENOTFOUND, "%s is %s this log",
                     pai__replay_show(r->dated, time, when),
                     time < r->begin ? "before the beginning of"
                                     : "after the end of");

  pai__error_help(err, "the log covers %s to %s",
                  pai__replay_show(r->dated, r->begin, begin),
                  pai__replay_show(r->dated, r->end, end));
  return rc;
}

int pai_replay_to(pai_replay *r, pai_time time, pai_error **err)
{
  pai_time begin = 0, end = 0;
  uint64_t start;
  int rc = pai_replay_range(r, &begin, &end, err);

  if (rc < 0)
    return rc;
  if (time < begin || time > end)
    return out_of_range(r, time, err);
  rc = find_start(r, time, &start, err);
  if (rc < 0)
    return rc;
  if (r->s == NULL || r->at <= start || !is_before(r, time)) {
    /* seek takes the lines before its place, so it must lie behind the
     * snapshot */
    uint64_t behind;

    rc = pai__lines_behind(&r->lines, start, &behind, err);
    if (rc == PAI_OK)
      rc = pai__replay_seek(r, behind, err);
  }
  if (rc < 0)
    return rc;
  do
    rc = pai_replay_step_until(r, time, err);
  while (rc == 1);
  return rc;
}
