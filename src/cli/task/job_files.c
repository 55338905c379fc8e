/* job_files.c - files of a job: place names, lists, sizes and copies */
#include "job_files.h"

#include "jobs.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

/* --- names --------------------------------------------------------------- */

bool cli_place_read(cli_place *out, const char *word)
{
  size_t colon = strcspn(word, ":");

  *out = (cli_place){ .path = word };
  if (word[colon] == '\0' || memchr(word, '/', colon) != NULL)
    return true;
  out->job = strndup(word, colon);
  out->path = word + colon + 1;
  while (strncmp(out->path, "./", 2) == 0)
    out->path += 2;
  if (strcmp(out->path, ".") == 0)
    out->path++;
  return out->job != NULL && cli_job_name(out->job);
}

void cli_place_free(cli_place *place)
{
  free(place->job);
  place->job = NULL;
}

const char *cli_last_part(const char *path)
{
  const char *slash = strrchr(path, '/');

  return slash != NULL ? slash + 1 : path;
}

/* --- a page -------------------------------------------------------------- */

typedef struct page {
  const char *job;
  pai_files_options options;
} page;

static int start_page(cli_remote *r, void *data, pai_client_cb cb,
                      void *user_data, pai_error **err)
{
  const page *p = data;
  char *job = cli_whole_name(p->job);
  int rc =
    pai_client_files(NULL, r->client, job, &p->options, cb, user_data, err);

  free(job);
  return rc;
}

static int hex(char c)
{
  const char *digits = "0123456789ABCDEF", *at = strchr(digits, c);

  return c != '\0' && at != NULL ? (int)(at - digits) : -1;
}

/* Returns the path of an entry, for free().  A path that is not UTF-8 is
 * URL-escaped in the answer. */
static char *path_of(const pai_json *j, size_t entry)
{
  const char *text = cli_json_text(j, entry, "escaped");
  bool escaped = text[0] != '\0';
  char *path = strdup(escaped ? text : cli_json_text(j, entry, "path")),
       *to = path;

  if (!escaped || path == NULL)
    return path;
  for (const char *p = text; *p != '\0'; p++)
    if (p[0] == '%' && hex(p[1]) >= 0 && hex(p[2]) >= 0 &&
        (p[1] != '0' || p[2] != '0')) {
      *to++ = (char)(hex(p[1]) * 16 + hex(p[2]));
      p += 2;
    } else {
      *to++ = *p;
    }
  *to = '\0';
  return path;
}

/* Reads the entries of a page; *next, for free(), is where the next page
 * begins. */
static bool read_page(cli_listing *l, const cli_answer *a, char **next)
{
  pai_json *j;

  *next = NULL;
  if (!cli_json_read(&j, a->body, a->len))
    return false;

  for (cli_each i = cli_each_of(j, cli_json_get(j, 0, "entries"));
       !l->stopped && cli_next(&i);) {
    char *path = path_of(j, i.at);
    const cli_entry e = { .path = path != NULL ? path : "",
                          .type = cli_json_text(j, i.at, "type"),
                          .target = cli_json_text(j, i.at, "target"),
                          .size = cli_json_number(j, i.at, "size", 0),
                          .modified = cli_json_number(j, i.at, "modified", 0),
                          .executable = cli_json_true(j, i.at, "executable") };
    l->stopped = !l->on_entry(l->user_data, &e) || l->one;
    free(path);
  }
  if (cli_json_text(j, 0, "next")[0] != '\0' && !l->stopped)
    *next = strdup(cli_json_text(j, 0, "next"));
  cli_json_free(&j);
  return true;
}

static page page_of(const cli_listing *l)
{
  page p = { l->job, PAI_FILES_OPTIONS_INIT };

  p.options.path = l->path[0] != '\0' ? l->path : NULL;
  p.options.recursive = l->recursive;
  p.options.limit = l->one ? 1 : 0;
  return p;
}

bool cli_ask_files(cli_remote *r, const cli_listing *l, cli_answer *a)
{
  page p = page_of(l);

  cli_remote_call(r, a, start_page, &p, NULL);
  return a->status == PAI_OK;
}

bool cli_list_files(cli_remote *r, cli_listing *l, cli_answer *a)
{
  page p = page_of(l);
  char *after = NULL, *next = NULL;
  bool good;

  *a = (cli_answer){ 0 };
  do {
    cli_answer_free(a);
    p.options.after = after;
    cli_remote_call(r, a, start_page, &p, NULL);
    good = a->status == PAI_OK && read_page(l, a, &next);
    free(after);
    after = good ? next : NULL;
  } while (after != NULL);
  return good;
}

/* --- totals -------------------------------------------------------------- */

bool cli_total_files(cli_remote *r, const char *job, cli_total *out)
{
  page p = { job, PAI_FILES_OPTIONS_INIT };
  cli_answer a;
  pai_json *j;
  bool good;

  *out = (cli_total){ 0 };
  p.options.total = 1;
  p.options.recursive = 1;
  cli_remote_call(r, &a, start_page, &p, NULL);
  good = a.status == PAI_OK && cli_json_read(&j, a.body, a.len);
  if (good) {
    (void)snprintf(out->folder, sizeof(out->folder), "%s",
                   cli_json_text(j, 0, "folder"));
    out->own = cli_json_true(j, 0, "own");
    out->files = cli_json_number(j, 0, "files", 0);
    out->bytes = cli_json_number(j, 0, "bytes", 0);
    cli_json_free(&j);
  }
  cli_answer_free(&a);
  return good;
}

/* --- progress ------------------------------------------------------------ */

void cli_copy_progress(const cli_copied *c, const char *path, uint64_t done,
                       uint64_t total)
{
  char line[256];

  if (done >= total || cli_now() - c->began < 500)
    return;
  cli_progress_bar(line, sizeof(line), cli_last_part(path), done, total,
                   cli_now() - c->began);
  cli_progress(line);
}
