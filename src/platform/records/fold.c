/*
 * fold.c - folds as bytes in rows, and back
 *
 * A job's fold is preceded by its working folder: a byte that tells whether
 * there is one, and the path with its NUL.  The fold of a task that was added
 * later is preceded by a byte and its number; that of a task with CPUs of its
 * own by a byte and their list; each text with its NUL.
 */
#include "platform/records/fold.h"

#include <stdlib.h>

enum { CPUS = 'c', NUMBER = 'n' }; /* folds begin with smaller bytes */

void pai__fold_save_job(pai__buf *out, const pai__pjob *j)
{
  pai__buf_char(out, j->work_dir != NULL ? 'w' : '-');
  if (j->work_dir != NULL)
    pai__buf_add(out, j->work_dir, strlen(j->work_dir) + 1);
  pai__job_save_head(out, &j->job);
}

void pai__fold_save_task(pai__buf *out, const pai__pjob *j, uint32_t task)
{
  const char *cpus = j->tasks[task].cpus;

  if (task >= j->spec->ntasks) {
    pai__buf_printf(out, "%c%u", NUMBER, task);
    pai__buf_char(out, '\0');
  }
  if (cpus != NULL) {
    pai__buf_char(out, CPUS);
    pai__buf_add(out, cpus, strlen(cpus) + 1);
  }
  pai__job_save_task(out, &j->job, task);
}

/* Takes a text of this kind from the front; NULL: there is none. */
static const char *take_text(pai__bytes *fold, char kind)
{
  const char *text = fold->data;
  const char *end =
    fold->len > 1 && text[0] == kind ? memchr(text, '\0', fold->len) : NULL;

  if (end == NULL)
    return NULL;
  *fold = (pai__bytes){ end + 1, fold->len - (size_t)(end + 1 - text) };
  return text + 1;
}

const char *pai__fold_cpus(pai__bytes *fold)
{
  return take_text(fold, CPUS);
}

bool pai__fold_number(pai__bytes *fold, uint32_t *task)
{
  const char *text = take_text(fold, NUMBER);

  if (text != NULL)
    *task = (uint32_t)strtoul(text, NULL, 10);
  return text != NULL;
}

/* Returns the length of the prefix of a job's fold; 0: unreadable. */
static size_t prefix(pai__bytes head)
{
  const char *text = head.data;
  const char *end =
    head.len > 1 && text[0] == 'w' ? memchr(text, '\0', head.len) : NULL;

  if (end != NULL)
    return (size_t)(end - text) + 1;
  return head.len > 0 && text[0] == '-' ? 1 : 0;
}

uint32_t pai__fold_tasks(pai__bytes head)
{
  size_t skip = prefix(head);

  return skip == 0 ? 0
                   : pai__job_saved_tasks((pai__bytes){
                       (const char *)head.data + skip, head.len - skip });
}

const char *pai__fold_work_dir(pai__bytes head)
{
  return prefix(head) > 1 ? (const char *)head.data + 1 : NULL;
}

int pai__fold_load(pai__pjob *j, pai__bytes head, const pai__bytes *tasks,
                   uint32_t ntasks, pai_error **err)
{
  const pai_alloc *alloc = &j->platform->alloc;
  const char *text = head.data;
  size_t skip = prefix(head);

  if (skip == 0)
    return pai__fail(err, PAI_EINVAL, "its state cannot be read");
  if (text[0] == 'w') {
    j->work_dir = pai__strdup(alloc, text + 1);
    if (j->work_dir == NULL)
      return pai__oom(err);
  }
  head = (pai__bytes){ text + skip, head.len - skip };
  return pai__job_restore(&j->job, alloc, &j->form, head, tasks, ntasks, err);
}
