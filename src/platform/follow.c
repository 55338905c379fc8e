/*
 * follow.c - followers of the scheduler's log
 *
 * Each follower has a buffer of lines, which its owner reads at any time, so
 * that a slow reader does not delay the platform.  A follower whose buffer is
 * full misses lines, and reads a snapshot next.
 */
#include "platform/follow.h"

enum { MOST = 64 << 20 }; /* bytes that wait to be read */

struct pai_follower {
  pai_alloc alloc;
  pai_platform *platform; /* NULL: the platform has ended */
  pai_follower *next;
  pai__buf lines;
  bool missed; /* lines are missing; the next one is a snapshot */
};

/* --- lines ---------------------------------------------------------------- */

void pai__followers_line(pai_platform *p, const char *bytes, size_t len)
{
  for (pai_follower *f = p->followers; f != NULL; f = f->next) {
    if (f->missed)
      continue;
    pai__buf_add(&f->lines, bytes, len);
    if (pai__buf_ok(&f->lines) && f->lines.len <= MOST)
      continue;
    f->missed = true;
    pai__buf_dispose(&f->lines);
  }
}

void pai__followers_miss(pai_platform *p)
{
  for (pai_follower *f = p->followers; f != NULL; f = f->next)
    f->missed = true;
}

void pai__followers_leave(pai_platform *p)
{
  while (p->followers != NULL) {
    pai_follower *f = p->followers;

    p->followers = f->next;
    f->platform = NULL;
  }
}

/* The log callback without a database, where only followers need a log. */
static int on_line(void *user_data, const char *bytes, size_t len)
{
  pai__followers_line(user_data, bytes, len);
  return PAI_OK;
}

static int collect(void *user_data, const char *bytes, size_t len)
{
  pai__buf_add(user_data, bytes, len);
  return pai__buf_ok(user_data) ? PAI_OK : PAI_ENOMEM;
}

/* Begins with a snapshot, from which on the lines are complete. */
static int begin(pai_follower *f, pai_error **err)
{
  int rc;

  pai__buf_clear(&f->lines);
  rc = pai_sched_save(f->platform->sched, collect, &f->lines, err);
  f->missed = rc < 0 || f->platform->unheard;
  return rc;
}

/* --- life ----------------------------------------------------------------- */

int pai_platform_follow(pai_follower **out, pai_platform *p, pai_error **err)
{
  pai_follower *f;
  int rc;

  PAI__CLEAR_OUT(out, err);
  PAI__CHECK_OBJECT(p, err);
  f = pai__zalloc(&p->alloc, sizeof(*f));
  if (f == NULL)
    return pai__oom(err);
  f->alloc = p->alloc;
  f->platform = p;
  pai__buf_init(&f->lines, &f->alloc);
  rc = begin(f, err);
  if (rc == PAI_OK && p->store == NULL && p->followers == NULL)
    rc = pai_sched_set_log(p->sched, on_line, p, err);
  if (rc < 0) {
    f->platform = NULL;
    pai_platform_unfollow(f);
    return rc;
  }
  f->next = p->followers;
  p->followers = f;
  *out = f;
  return PAI_OK;
}

void pai_platform_unfollow(pai_follower *f)
{
  pai_follower **at;
  pai_platform *p;
  pai_alloc alloc;

  if (f == NULL)
    return;
  p = f->platform;
  if (p != NULL) {
    for (at = &p->followers; *at != f; at = &(*at)->next) {
    }
    *at = f->next;
    if (p->followers == NULL && p->store == NULL)
      (void)!pai_sched_set_log(p->sched, NULL, NULL, NULL);
  }
  pai__buf_dispose(&f->lines);
  alloc = f->alloc;
  pai__free(&alloc, f, sizeof(*f));
}

int pai_follower_read(pai_follower *f, pai_write_cb write, void *user_data,
                      pai_error **err)
{
  pai__buf taken;
  int rc = PAI_OK;

  PAI__CHECK_ARG_ERR(f != NULL, err);
  PAI__CHECK_ARG_ERR(write != NULL, err);
  if (f->missed && f->platform != NULL)
    rc = begin(f, err);
  if (rc < 0)
    return rc;
  taken = f->lines; /* new lines during write() are read the next time */
  pai__buf_init(&f->lines, &f->alloc);
  if (taken.len > 0)
    rc = write(user_data, pai__buf_text(&taken), taken.len);
  pai__buf_dispose(&taken);
  if (rc >= 0)
    return f->platform != NULL;
  f->missed = true;
  return pai__fail(err, rc, "the lines could not be written");
}
