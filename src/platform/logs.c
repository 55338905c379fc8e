/*
 * logs.c - readers of tasks' logs
 *
 * Of those who wait for the same byte of a file, the first whose turn it is
 * reads for all: what it finds is handed to the others as well, whose turns
 * have then nothing left to do.
 *
 * A reader reads a piece in each turn of the loop, so that whoever receives it
 * may pause it; at the end of the file it waits until the folder changes or
 * the platform says that something has happened to the job.
 */
#include "platform/logs.h"

#include "base/posix_fs.h"

enum { PIECE = 1 << 15, LOOK_AGAIN = 200000 };

struct pai_log_reader {
  pai_platform *platform;
  pai_log_reader *next;
  pai_job_id job;
  pai__log_place place;
  pai__task_log file;
  pai__log_from from;
  uint64_t skip;   /* bytes before the first one that is wanted; */
  uint64_t offset; /* of the next one */
  pai_log_data_cb cb;
  void *user_data;
  pai__turn *turn;
  pai__watch *watch;
  pai__timer *timer; /* where there is no watch */
  bool
    changed; /* something was written since it, or who read for it, looked */
  bool leading; /* others wait for what it will read next */
  bool follow, paused, ended, in_callback, closed;
};

static void free_reader(pai_log_reader *r)
{
  pai_alloc alloc = r->platform->alloc;

  pai__turn_close(r->turn);
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

/* False if the reader is gone behind the callback. */
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
    pai__turn_ask(r->turn);
}

/* --- side by side ---------------------------------------------------------------- */

static bool may_share(const pai_log_reader *r)
{
  return r->follow && !r->paused && !r->ended && r->skip == 0 &&
         !r->file.timed;
}

/* It reads no further: who waits for it looks for himself. */
static void stop_leading(pai_log_reader *r)
{
  if (!r->leading)
    return;
  r->leading = false;
  for (pai_log_reader *i = r->platform->readers; i != NULL; i = i->next)
    if (i != r && i->job == r->job)
      on_change(i);
}

/* To all that have waited for the byte at which `r`, which may be closed
 * behind this, has begun to read: so many bytes, or none. */
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

/* --- the file ------------------------------------------------------------------ */

/* Somebody changes the folder: before the file is read for the first time, so
 * that nothing is missed. */
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

/* What a task has put in its folder's place may lead to what is hidden from
 * it; the way to the root is whoever's it is. */
static bool is_hidden(const pai_log_reader *r)
{
  const char *root = r->platform->root;
  size_t n = strlen(root);

  return r->place.who == NULL && strncmp(r->place.dir, root, n) == 0 &&
         r->place.dir[n] == '/' && !pai__fs_has_link(root);
}

/* PAI_ENOTFOUND: it is not there yet. */
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

/* --- its turns ------------------------------------------------------------------ */

/* What was read, without what is not wanted. */
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

/* Without a timer its next change wakes it. */
static void look_later(pai_log_reader *r)
{
  pai_platform *p = r->platform;

  stop_leading(r);
  if (r->timer == NULL)
    (void)pai__timer_new(&r->timer, &p->alloc, p->loop, on_change, r);
  if (r->timer != NULL)
    pai__timer_start(r->timer, LOOK_AGAIN);
}

/* Bytes that were read, 0 or a code; PAI_EBUSY: this machine is short of what it
 * takes to look. */
static int read_piece(pai_log_reader *r, char bytes[PIECE])
{
  int n = 0;

  if (r->file.fd < 0 && (n = open_file(r, NULL)) < 0)
    return n == PAI_ENOTFOUND ? 0 : n == PAI_ENOMEM ? PAI_EBUSY : n;
  if (r->file.fd >= 0 && pai__as_user(r->place.who)) {
    n = pai__task_log_read(&r->file, r->place.dir, bytes, PIECE);
    pai__as_self(r->place.who);
  }
  return n;
}

/* In the file that it began with: else the others find the next one, too. */
static bool is_for_all(const pai_log_reader *r, const pai__task_log_at *from,
                       int n)
{
  return from->inode != 0 && n >= 0 && r->file.at.inode == from->inode &&
         r->file.at.device == from->device;
}

/* Nobody was in the way: it is its turn still. */
static bool share_or_stop(pai_log_reader *r, const pai__task_log_at *from,
                          const char *bytes, int n, bool over)
{
  /* Each is told of the end, and finds the next file, for himself. */
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
  r->file.at = *from; /* once more, when it may go on */
  r->changed = true;
  return false;
}

static void on_turn(void *user_data)
{
  pai_log_reader *r = user_data;
  pai__task_log_at from = r->file.at;
  bool over = !r->follow;
  char bytes[PIECE]; /* here, since there may be thousands of readers */
  int n;

  if (r->paused || r->ended || !r->changed)
    return;
  if (r->follow) {
    (void)pai__log_look(&r->place, r->platform, r->job);
    over = r->place.over; /* before it is read: then nothing comes later */
  }
  n = read_piece(r, bytes);
  if (n == PAI_EBUSY) { /* it may have an end, but not yet */
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
      pai__turn_ask(r->turn);
  } else if (over)
    (void)hand(r, PAI_OK, "", 0);
  else
    wait(r);
}

/* --- public ---------------------------------------------------------------------- */

static int begin(pai_log_reader *r, const pai_log_options *o, pai_error **err)
{
  pai_platform *p = r->platform;
  int rc = pai__log_find(&r->place, p, r->job, o, err);

  if (rc < 0)
    return rc;
  if (pai__turn_new(&r->turn, &p->alloc, p->loop, on_turn, r) < 0)
    return pai__oom(err);
  rc = open_file(r, err);
  if (rc != PAI_ENOTFOUND || (!r->follow && r->place.over))
    return rc;
  if (err != NULL) { /* it is to come: of a task that starts it is empty */
    pai_error_free(*err);
    *err = NULL;
  }
  if (r->from.offset < 0 || r->from.offset == INT64_MAX)
    r->from.offset = 0; /* nothing is before its end, */
  r->from.tail = 0;     /* and all its lines are the last */
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
  PAI__CHECK_ARG_ERR(p != NULL, err);
  PAI__CHECK_PROCESS(p, err);
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

/* Their owners have forgotten them. */
void pai__logs_free(pai_platform *p)
{
  while (p->readers != NULL)
    pai_log_close(p->readers);
}
