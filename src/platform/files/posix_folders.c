/*
 * posix_folders.c - names of existing job folders
 *
 * They are listed once.  All later folders are those of jobs, whose names are
 * known to be used.  So a submission need not check the place of the new job's
 * folder, which would take up to a tenth of its time.
 */
#include "platform/files/folders.h"

#include <dirent.h>
#include <errno.h>

typedef struct pai__folders {
  pai_platform *p;
  pai__work *work;
  pai__buf names; /* "user~name", each with a NUL; of libc's allocator, because
                     another thread writes it */
  bool busy, failed, known;
} pai__folders;

/* --- in the other thread -------------------------------------------------- */

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

/* --- on the loop ---------------------------------------------------------- */

/* Marks a name as used.  User names have no '~'. */
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
  pai__loop_step_ask(f->p->kick);
}

static void begin(pai_platform *p)
{
  pai__folders *f = pai__zalloc(&p->alloc, sizeof(*f));

  if (f == NULL)
    return; /* tried again with the next submission */
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
