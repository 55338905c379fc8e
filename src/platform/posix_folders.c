/*
 * posix_folders.c - under which names folders of jobs lie
 *
 * They are listed once.  All that are made later are those of jobs, whose names
 * are used anyway: so whoever submits need not look whether something lies
 * where a new job's folder will be, which costs as much as a tenth of all that
 * a submission takes.
 */
#include "platform/folders.h"

#include <dirent.h>
#include <errno.h>

typedef struct pai__folders {
  pai_platform *p;
  pai__work *work;
  pai__buf names; /* "user~name", with a zero behind each; libc's, for it is
                     not the loop's thread that writes it */
  bool busy, failed, known;
} pai__folders;

/* --- beside the loop ------------------------------------------------------------- */

static void list(void *user_data)
{
  pai__folders *f = user_data;
  DIR *dir = opendir(f->p->jobs_dir);
  struct dirent *e;

  f->failed = dir == NULL;
  while (dir != NULL) {
    errno = 0;
    e = readdir(dir);
    if (e == NULL)
      break;
    pai__buf_add(&f->names, e->d_name, strlen(e->d_name) + 1);
  }
  if (dir != NULL) {
    f->failed = errno != 0;
    (void)closedir(dir);
  }
}

/* --- on it ------------------------------------------------------------------------ */

/* No user's name has a ~. */
static void use(const pai_platform *p, char *folder)
{
  char *tilde = strchr(folder, '~');

  if (tilde == NULL)
    return;
  *tilde = '\0';
  pai__store_use_name(p->store, folder, tilde + 1);
}

static void on_listed(void *user_data)
{
  pai__folders *f = user_data;
  size_t at = 0;

  f->failed |= !pai__buf_ok(&f->names);
  while (!f->failed && at < f->names.len) {
    char *folder = f->names.data + at;

    at += strlen(folder) + 1;
    use(f->p, folder);
  }
  pai__buf_dispose(&f->names);
  f->known = !f->failed;
  f->busy = false;
  pai__turn_ask(f->p->kick);
}

static void begin(pai_platform *p)
{
  pai__folders *f = pai__zalloc(&p->alloc, sizeof(*f));

  if (f == NULL)
    return; /* perhaps the next time */
  f->p = p;
  pai__buf_init(&f->names, &pai__libc_alloc);
  if (pai__work_new(&f->work, &p->alloc, p->loop, list, on_listed, f) < 0) {
    pai__free(&p->alloc, f, sizeof(*f));
    return;
  }
  p->folders = f;
  f->busy = true;
  pai__work_start(f->work);
}

bool pai__folders_are_known(pai_platform *p)
{
  if (p->folders == NULL)
    begin(p);
  return p->folders != NULL && p->folders->known;
}

bool pai__folders_are_idle(const pai_platform *p)
{
  return p->folders == NULL || !p->folders->busy;
}

void pai__folders_close(pai_platform *p)
{
  if (p->folders == NULL)
    return;
  pai__work_close(p->folders->work);
  pai__free(&p->alloc, p->folders, sizeof(*p->folders));
}
