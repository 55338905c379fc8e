/*
 * pages.c - pages of OpenPAI's web portal that clients open in a browser
 *
 * This server has no portal: a page says how to get the same information.
 */
#include "server/server.h"
#include "base/text/encode.h"

static void answer_page(pai__request *r, pai__buf *body)
{
  pai__buf page;

  pai__buf_init(&page, &r->server->alloc);
  pai__buf_str(&page, "<!DOCTYPE html>\n<html lang=\"en\"><head>"
                      "<meta charset=\"utf-8\"><title>OpenPAI</title></head>"
                      "<body><h1>OpenPAI</h1>");
  pai__buf_add(&page, body->data, body->len);
  pai__buf_str(&page, "<p>This server has no web portal.</p></body></html>\n");
  if (pai__buf_ok(body) && pai__buf_ok(&page))
    pai__answer_text(r, 200, "text/html; charset=utf-8", pai__buf_text(&page));
  else
    pai__answer_failure(r, PAI_ENOMEM);
  pai__buf_dispose(&page);
  pai__buf_dispose(body);
}

/* The page of a job.  The query names the job, in one of two spellings. */
void pai__do_pages_job(pai__request *r)
{
  const char *user = pai__request_query(r, "username"),
             *job = pai__request_query(r, "jobName");
  pai__buf b;

  if (user == NULL)
    user = pai__request_query(r, "userName");
  pai__buf_init(&b, &r->server->alloc);
  pai__buf_str(&b, "<p>Job <b>");
  pai__put_html(&b, user != NULL ? user : "");
  pai__buf_char(&b, '~');
  pai__put_html(&b, job != NULL ? job : "");
  pai__buf_str(&b, "</b>: run <code>openpai show ");
  pai__put_html(&b, user != NULL ? user : "");
  pai__buf_char(&b, '~');
  pai__put_html(&b, job != NULL ? job : "");
  pai__buf_str(&b, "</code>.</p>");
  answer_page(r, &b);
}

void pai__do_pages_jobs(pai__request *r)
{
  pai__buf b;

  pai__buf_init(&b, &r->server->alloc);
  pai__buf_str(&b, "<p>Jobs: run <code>openpai list</code> or "
                   "<code>openpai top</code>. To submit a job: "
                   "<code>openpai submit FILE</code>.</p>");
  answer_page(r, &b);
}
