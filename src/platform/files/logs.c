/*
 * logs.c - readers of tasks' logs
 *
 * Of the readers that wait for the same byte of a file, the one with the first
 * step reads for all (it leads): each piece is passed to the others, too, whose
 * steps then have nothing to do.
 *
 * A reader reads a piece in each step of the loop, so that its receiver can
 * pause it.  At the end of the file it waits until the folder changes or the
 * job's state does.
 */
#include "platform/files/logs.h"

#include "base/os/posix_fs.h"

enum { PIECE = 1 << 15, LOOK_AGAIN = 200000 };

struct pai_log_reader {
  pai_platform *platform;
  pai_log_reader *next;
  pai_job_id job;
  pai__log_place place;
  pai__task_log file;
  pai__log_from from;
  uint64_t skip;   /* bytes to read before the first wanted one */
  uint64_t offset; /* of the next byte for the receiver */
  pai_log_data_cb cb;
  void *user_data;
  pai__loop_step *step;
  pai__watch *watch;
  pai__timer *timer; /* used if there is no watch */
  bool changed;      /* the file may have new bytes since it was read */
  bool leading;      /* other readers wait for its next piece */
  bool follow, paused, ended, in_callback, closed;
};

static void free_reader(pai_log_reader *r)
{
  pai_alloc alloc = r->platform->alloc;

  pai__loop_step_close(r->step);
  pai__watch_close(r->watch);
  pai__timer_close(r->timer);
  pai__task_log_close(&r->file);
  pai__strfree(&alloc, r->place.dir);
  pai__free(&alloc, r->place.who, sizeof(*r->place.who));
  pai__free(&alloc, r, sizeof(*r));
}

static void unlink_reader(pai_log_reader *r)
{
  pai_log_reader **at = &r->platform->readers;

  while (*at != NULL && *at != r)
    at = &(*at)->next;
  if (*at == r)
    *at = r->next;
  if (r->platform->next_reader == r)
    r->platform->next_reader = r->next;
}

/* Calls the receiver.  False: the reader was closed in it, and is freed. */
static bool hand(pai_log_reader *r, int status, const char *bytes, size_t len)
{
  uint64_t offset = r->offset;

  r->offset += len;
  r->ended |= len == 0;
  r->in_callback = true;
  r->cb(r->user_data, status, offset, bytes, len);
  r->in_callback = false;
  if (r->closed)
    free_reader(r);
  else
    return true;
  return false;
}

static void on_change(void *user_data)
{
  pai_log_reader *r = user_data;

  r->changed = true;
  if (!r->paused && !r->ended)
    pai__loop_step_ask(r->step);
}

/* --- readers of the same file --------------------------------------------- */

static bool may_share(const pai_log_reader *r)
{
  return r->follow && !r->paused && !r->ended && r->skip == 0 &&
         !r->file.timed;
}

/* The reader stops reading for others: each reads by itself again. */
static void stop_leading(pai_log_reader *r)
{
  if (!r->leading)
    return;
  r->leading = false;
  for (pai_log_reader *i = r->platform->readers; i != NULL; i = i->next)
    if (i != r && i->job == r->job)
      on_change(i);
}

/* Passes n bytes to all readers that wait for the byte at `from`, where `r` has
 * read.  `r` may be closed by their receivers. */
static void share(pai_log_reader *r, const pai__task_log_at *from,
                  const char *bytes, size_t n)
{
  pai_platform *p = r->platform;
  pai_log_reader *i;

  r->in_callback = true;
  r->leading = false;
  for (p->next_reader = p->readers; (i = p->next_reader) != NULL;) {
    p->next_reader = i->next;
    if (i == r || i->job != r->job || !may_share(i) ||
        !pai__task_log_meets(&i->file, &r->file, from))
      continue;
    i->changed = false;
    i->file.at = r->file.at;
    r->leading |= n > 0;
    if (n > 0)
      (void)hand(i, PAI_OK, bytes, n);
  }
  r->in_callback = false;
}

/* --- the file ------------------------------------------------------------- */

/* Watches the folder from before the first read, not to miss a change. */
static void watch(pai_log_reader *r)
{
  pai_platform *p = r->platform;

  if (!r->follow || r->watch != NULL || r->place.over)
    return;
  if (pai__watch_new(&r->watch, &p->alloc, p->loop, r->place.dir, on_change,
                     r) < 0 &&
      r->timer == NULL)
    (void)pai__timer_new(&r->timer, &p->alloc, p->loop, on_change, r);
}

/* Tells whether links must not be followed below the root: a task may have put
 * one in its folder's place, to files that are hidden from it.  A root whose
 * own path has links is exempt. */
static bool is_hidden(const pai_log_reader *r)
{
  const char *root = r->platform->root;
  size_t n = strlen(root);

  return r->place.who == NULL && strncmp(r->place.dir, root, n) == 0 &&
         r->place.dir[n] == '/' && !pai__fs_has_link(root);
}

/* PAI_ENOTFOUND: the file does not exist yet. */
static int open_file(pai_log_reader *r, pai_error **err)
{
  int rc;

  if (r->place.dir == NULL)
    return pai__fail(err, PAI_ENOTFOUND, "the task has not been started");
  if (!pai__as_user(r->place.who))
    return pai__fail(err, PAI_EPERM, "this process cannot act for %s",
                     r->place.who->name);
  watch(r);
  r->file.no_links = is_hidden(r);
  rc = pai__task_log_open_from(&r->file, r->place.dir, &r->from, &r->offset,
                               &r->skip, err);
  pai__as_self(r->place.who);
  return rc;
}

/* --- steps ---------------------------------------------------------------- */

/* Passes on a piece without the bytes to skip. */
static bool hand_piece(pai_log_reader *r, const char *bytes, size_t n)
{
  size_t from = r->skip < n ? (size_t)r->skip : n;

  r->skip -= from;
  return from == n || hand(r, PAI_OK, bytes + from, n - from);
}

static void wait(pai_log_reader *r)
{
  if (r->watch == NULL && r->timer != NULL)
    pai__timer_start(r->timer, LOOK_AGAIN);
}

/* Tries again after a while; without memory for a timer, at the next change. */
static void look_later(pai_log_reader *r)
{
  pai_platform *p = r->platform;

  stop_leading(r);
  if (r->timer == NULL)
    (void)pai__timer_new(&r->timer, &p->alloc, p->loop, on_change, r);
  if (r->timer != NULL)
    pai__timer_start(r->timer, LOOK_AGAIN);
}

/* Adjusts the offset after rotated files were removed before they could be
 * read.  The piece is the first of its file, whose start offset is known. */
static int pass_gap(pai_log_reader *r)
{
  uint64_t at = r->offset - r->skip, root_gone;

  if (pai__task_log_begin(&root_gone, &r->file, r->place.dir) < 0)
    return PAI_EIO; /* the offset of these bytes is unknown */
  r->file.missed = false;
  if (root_gone <= at)
    return PAI_OK;
  r->skip = root_gone < r->offset ? r->offset - root_gone : 0;
  r->offset = root_gone > r->offset ? root_gone : r->offset;
  return PAI_OK;
}

/* Returns the number of bytes that were read, or a code; PAI_EBUSY: the machine
 * is short of resources to read. */
static int read_piece(pai_log_reader *r, char bytes[PIECE])
{
  int n = 0;

  if (r->file.fd < 0 && (n = open_file(r, NULL)) < 0)
    return n == PAI_ENOTFOUND ? 0 : n == PAI_ENOMEM ? PAI_EBUSY : n;
  if (r->file.fd >= 0 && pai__as_user(r->place.who)) {
    n = pai__task_log_read(&r->file, r->place.dir, bytes, PIECE);
    if (n > 0 && r->file.missed && pass_gap(r) < 0)
      n = PAI_EIO;
    pai__as_self(r->place.who);
  }
  return n;
}

/* A piece from the next file is not shared: the others find that themselves. */
static bool is_for_all(const pai_log_reader *r, const pai__task_log_at *from,
                       int n)
{
  return from->inode != 0 && n >= 0 && r->file.at.inode == from->inode &&
         r->file.at.device == from->device;
}

/* Shares a piece, or stops leading.  False: `r` was closed or paused. */
static bool share_or_stop(pai_log_reader *r, const pai__task_log_at *from,
                          const char *bytes, int n, bool over)
{
  /* Each reader finds the end, and the next file, by itself. */
  if ((n == 0 && over) || !may_share(r) || !is_for_all(r, from, n)) {
    stop_leading(r);
    return true;
  }
  share(r, from, bytes, (size_t)n);
  if (!r->closed && !r->paused)
    return true;
  stop_leading(r);
  if (r->closed) {
    free_reader(r);
    return false;
  }
  r->file.at = *from; /* read again when it is resumed */
  r->changed = true;
  return false;
}

static void on_step(void *user_data)
{
  pai_log_reader *r = user_data;
  pai__task_log_at from = r->file.at;
  bool over = !r->follow;
  char bytes[PIECE]; /* on the stack: there may be thousands of readers */
  int n;

  if (r->paused || r->ended || !r->changed)
    return;
  if (r->follow) {
    (void)pai__log_look(&r->place, r->platform, r->job);
    over = r->place.over; /* checked before the read, not to miss bytes */
  }
  n = read_piece(r, bytes);
  if (n == PAI_EBUSY) { /* not the end, even if the start is over */
    look_later(r);
    return;
  }
  r->changed = n > 0;
  if (!share_or_stop(r, &from, bytes, n, over))
    return;
  if (n < 0)
    (void)hand(r, n, "", 0);
  else if (n > 0) {
    if (hand_piece(r, bytes, (size_t)n) && !r->paused)
      pai__loop_step_ask(r->step);
  } else if (over)
    (void)hand(r, PAI_OK, "", 0);
  else
    wait(r);
}

/* --- public --------------------------------------------------------------- */

static int begin(pai_log_reader *r, const pai_log_options *o, pai_error **err)
{
  pai_platform *p = r->platform;
  int rc = pai__log_find(&r->place, p, r->job, o, err);

  if (rc < 0)
    return rc;
  if (pai__loop_step_new(&r->step, &p->alloc, p->loop, on_step, r) < 0)
    return pai__oom(err);
  rc = open_file(r, err);
  if (rc != PAI_ENOTFOUND || (!r->follow && r->place.over))
    return rc;
  if (err != NULL) { /* the log is yet to come, and empty */
    pai_error_free(*err);
    *err = NULL;
  }
  if (r->from.offset < 0 || r->from.offset == INT64_MAX)
    r->from.offset = 0; /* the end of an empty log is its start */
  r->from.tail = 0;     /* all lines to come are wanted */
  r->offset = (uint64_t)r->from.offset;
  return PAI_OK;
}

int pai_log_open(pai_log_reader **out, pai_platform *p, pai_job_id job,
                 const pai_log_options *opts, pai_log_data_cb cb,
                 void *user_data, pai_error **err)
{
  pai_log_options o = PAI_LOG_OPTIONS_INIT;
  pai__task_log file;
  pai_log_reader *r;
  int rc = PAI_OK;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(cb != NULL, err);
  if (opts != NULL)
    rc = PAI__OPTIONS_IN(&o, opts, pai_log_options, since);
  if (rc < 0)
    return pai__fail_struct(err, rc, opts, "pai_log_options");
  if (!pai__task_log_init(&file, o.name != NULL ? o.name : "all")) {
    (void)pai__fail(err, PAI_ENOTFOUND, "there is no log \"%.64s\"", o.name);
    pai__error_help(err, "stdout, stderr, all or runtime");
    return PAI_ENOTFOUND;
  }
  r = pai__zalloc(&p->alloc, sizeof(*r));
  if (r == NULL)
    return pai__oom(err);
  r->platform = p;
  r->file = file;
  r->job = job;
  r->cb = cb;
  r->user_data = user_data;
  r->from = (pai__log_from){ o.offset, o.tail, o.since };
  r->file.timed = o.timed != 0;
  r->follow = o.follow != 0;
  rc = begin(r, &o, err);
  if (rc < 0) {
    free_reader(r);
    return rc;
  }
  r->next = p->readers;
  p->readers = r;
  on_change(r);
  *out = r;
  return PAI_OK;
}

pai_time pai_log_time(const pai_log_reader *r)
{
  return r->file.time;
}

uint64_t pai_log_offset(const pai_log_reader *r)
{
  return r->offset;
}

void pai_log_pause(pai_log_reader *r, int paused)
{
  if (PAI__IS_FORKED(r->platform))
    return;
  r->paused = paused != 0;
  if (r->paused)
    stop_leading(r);
  else
    on_change(r);
}

void pai_log_close(pai_log_reader *r)
{
  if (r == NULL || PAI__IS_FORKED(r->platform))
    return;
  stop_leading(r);
  unlink_reader(r);
  r->closed = true;
  if (!r->in_callback)
    free_reader(r);
}

void pai__logs_wake(pai_platform *p, pai_job_id job)
{
  for (pai_log_reader *r = p->readers; r != NULL; r = r->next)
    if (r->job == job)
      on_change(r);
}

/* Closes readers that their owners have not closed. */
void pai__logs_free(pai_platform *p)
{
  while (p->readers != NULL)
    pai_log_close(p->readers);
}
