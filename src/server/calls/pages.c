/*
 * pages.c - the web portal, and the addresses that OpenPAI's portal had
 *
 * The portal is one page; which of its pages it shows is up to its address.
 */
#include "server/server.h"
#include "base/text/encode.h"

static const pai__portal_file *find_file(const char *name)
{
  for (size_t i = 0; i < pai__portal_count; i++)
    if (strcmp(pai__portal_files[i].name, name) == 0)
      return &pai__portal_files[i];
  return NULL;
}

static void answer_file(pai__request *r, const pai__portal_file *file)
{
  r->page = file;
  pai__answer_ready(r, 200, file->type);
}

static void answer_without_portal(pai__request *r)
{
  pai__answer_text(
    r, 200, "text/html; charset=utf-8",
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<title>OpenPAI</title></head><body><h1>OpenPAI</h1><p>This server was "
    "built without the web portal. Run <code>openpai list</code>, "
    "<code>openpai show JOB</code> or <code>openpai submit FILE</code>.</p>"
    "</body></html>\n");
}

void pai__do_pages_portal(pai__request *r)
{
  const pai__portal_file *page = find_file(PAI__PORTAL_PAGE);

  if (page != NULL)
    answer_file(r, page);
  else
    answer_without_portal(r);
}

void pai__do_pages_file(pai__request *r)
{
  const pai__portal_file *file = find_file(r->params[0]);

  if (file != NULL && strcmp(file->name, PAI__PORTAL_PAGE) != 0)
    answer_file(r, file);
  else
    pai__answer_error(r, 404, "NoApiError", "The portal has no file %s.",
                      r->params[0]);
}

/* --- old addresses ------------------------------------------------------- */

static void lead_to(pai__request *r, pai__buf *address)
{
  if (!pai__buf_ok(address)) {
    pai__answer_failure(r, PAI_ENOMEM);
  } else {
    r->location = pai__buf_take(address);
    pai__answer_text(r, 302, "text/html; charset=utf-8", "");
  }
  pai__buf_dispose(address);
}

static const char *query(const pai__request *r, const char *name)
{
  const char *value = pai__request_query(r, name);

  return value != NULL ? value : "";
}

static void put_job(pai__buf *b, const char *user, const char *job)
{
  pai__put_escaped(b, user, "");
  pai__buf_char(b, '~');
  pai__put_escaped(b, job, "");
}

/* The query names the job, in one of two spellings. */
void pai__do_pages_job(pai__request *r)
{
  const char *user = *query(r, "username") != '\0' ? query(r, "username")
                                                   : query(r, "userName");
  pai__buf b;

  pai__buf_init(&b, &r->server->alloc);
  pai__buf_str(&b, "/jobs/");
  put_job(&b, user, query(r, "jobName"));
  if (strncmp(r->uri, "/job-event", 10) == 0)
    pai__buf_str(&b, "/events");
  lead_to(r, &b);
}

static void put_page(pai__buf *b, const pai__request *r)
{
  static const struct {
    const char *old, *page;
  } pages[] = {
    { "/job-list.html", "/jobs" },
    { "/submit.html", "/submit" },
    { "/user-profile.html", "/profile" },
  };

  for (size_t i = 0; i < PAI__LEN(pages); i++)
    if (strncmp(r->uri, pages[i].old, strlen(pages[i].old)) == 0) {
      pai__buf_str(b, pages[i].page);
      return;
    }
  pai__buf_char(b, '/');
}

void pai__do_pages_jobs(pai__request *r)
{
  pai__buf b;

  pai__buf_init(&b, &r->server->alloc);
  if (strncmp(r->uri, "/plugin.html", 12) == 0) {
    pai__buf_str(&b, "/plugins/");
    pai__put_escaped(&b, query(r, "index"), "");
    lead_to(r, &b);
    return;
  }
  put_page(&b, r);
  if (*query(r, "jobName") != '\0') { /* submit.html?op=resubmit */
    pai__buf_str(&b, "?clone=");
    put_job(&b, query(r, "user"), query(r, "jobName"));
  } else if (*query(r, "username") != '\0') {
    pai__buf_str(&b, "?user=");
    pai__put_escaped(&b, query(r, "username"), "");
  }
  lead_to(r, &b);
}
