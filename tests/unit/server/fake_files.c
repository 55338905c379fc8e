/* fake_files.c - files of the job that a played platform has */
#define _GNU_SOURCE /* memfd_create() */
#include "fake.h"

#include <openpai/files.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct pai_file_writer {
  pai_platform *p;
  char path[64];
  bool named;
  uint64_t at, size;
};

static const char *or_none(const char *text)
{
  return text != NULL ? text : "-";
}

int pai_platform_list_files(pai_platform *p, pai_job_id job,
                            const pai_files_options *o, pai_files_cb cb,
                            void *user_data, pai_error **err)
{
  (void)job;
  if (p->fail < 0)
    return pai__fail(err, p->fail, "as the test wants");
  (void)snprintf(p->listed, sizeof(p->listed), "%s|%s|%u|%d|%d|%d",
                 or_none(o->path), or_none(o->after), o->limit, o->recursive,
                 o->total, o->own);
  p->copies[p->ncopies].files = cb;
  p->copies[p->ncopies++].user_data = user_data;
  return PAI_OK;
}

static void set_times(int fd)
{
  const struct timespec times[2] = { { 1, 0 }, { 1700000000, 123456789 } };

  (void)!futimens(fd, times);
}

int pai_platform_open_file(int *fd, pai_platform *p, pai_job_id job,
                           const char *path, int own, pai_error **err)
{
  static const char text[] = "0123456789";

  (void)job;
  *fd = -1;
  if (p->fail < 0)
    return pai__fail(err, p->fail, "as the test wants");
  if (strcmp(path, own ? "out/a b.txt" : "elsewhere") != 0)
    return pai__fail(err, PAI_ENOTFOUND, "there is no %s", path);
  *fd = memfd_create("file", MFD_CLOEXEC);
  if (*fd < 0 || write(*fd, text, sizeof(text) - 1) < 0)
    return pai__fail(err, PAI_EIO, "no file");
  set_times(*fd);
  return PAI_OK;
}

int pai_file_writer_open(pai_file_writer **out, pai_platform *p,
                         pai_job_id job, const pai_file_write_options *o,
                         pai_error **err)
{
  pai_file_writer *w;

  (void)job;
  *out = NULL;
  if (p->fail < 0)
    return pai__fail(err, p->fail, "as the test wants");
  if (o->offset != UINT64_MAX && o->offset > p->arrived)
    return pai__fail(err, PAI_EINVAL, "so much has not arrived");
  w = pai__zalloc(&pai__libc_alloc, sizeof(*w));
  if (w == NULL)
    return pai__oom(err);
  w->p = p;
  w->size = o->size;
  w->named = o->upload != NULL;
  w->at = o->offset != UINT64_MAX ? o->offset : w->named ? p->arrived : 0;
  (void)snprintf(p->writing, sizeof(p->writing), "%s|%s|%llu|%d|%d", o->path,
                 or_none(o->upload), (unsigned long long)w->at, o->executable,
                 o->own);
  p->writers++;
  *out = w;
  return PAI_OK;
}

uint64_t pai_file_writer_received(const pai_file_writer *w)
{
  return w->at;
}

int pai_file_writer_add(pai_file_writer *w, const char *bytes, size_t len,
                        pai_error **err)
{
  if (len > w->size - w->at)
    return pai__fail(err, PAI_ELIMIT, "the file is larger");
  for (size_t i = 0; i < len && w->at + i + 1 < sizeof(w->p->written); i++)
    w->p->written[w->at + i] = bytes[i];
  w->at += len;
  return PAI_OK;
}

int pai_file_writer_end(pai_file_writer *w, pai_error **err)
{
  (void)err;
  w->p->arrived = w->named ? w->at : 0;
  return w->at == w->size;
}

void pai_file_writer_close(pai_file_writer *w)
{
  if (w == NULL)
    return;
  w->p->writers--;
  pai__free(&pai__libc_alloc, w, sizeof(*w));
}

int pai_platform_forget_as(pai_platform *p, pai_job_id job,
                           const pai_forget_options *o, pai_write_cb write,
                           void *user_data, pai_error **err)
{
  static const char kept[] = "{\"kept\":\"/root/kept/alice~mnist.1\"}";
  static const char none[] = "{\"kept\":null}";
  const char *said = o->keep_files ? kept : none;

  (void)job;
  p->forgets++;
  if (p->fail < 0)
    return pai__fail(err, p->fail, "as the test wants");
  return write(user_data, said, strlen(said));
}
