/*
 * pages.c - addresses of OpenPAI's web portal, which clients open in a browser
 *
 * This server has no portal yet: a page says how to see the same.
 */
#include "server/server.h"

static void put(pai__buf *b, const char *text)
{
  for (; *text != '\0'; text++)
    switch (*text) {
    case '<': pai__buf_str(b, "&lt;"); break;
    case '>': pai__buf_str(b, "&gt;"); break;
    case '&': pai__buf_str(b, "&amp;"); break;
    case '"': pai__buf_str(b, "&quot;"); break;
    default: pai__buf_char(b, *text);
    }
}

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
    pai__answer_failure(r, PAI_ENOMEM, NULL);
  pai__buf_dispose(&page);
  pai__buf_dispose(body);
}

/* Of one job: its name stands in the query, in two spellings. */
static void do_job(pai__request *r)
{
  const char *user = pai__request_query(r, "username"),
             *job = pai__request_query(r, "jobName");
  pai__buf b;

  if (user == NULL)
    user = pai__request_query(r, "userName");
  pai__buf_init(&b, &r->server->alloc);
  pai__buf_str(&b, "<p>Job <b>");
  put(&b, user != NULL ? user : "");
  pai__buf_char(&b, '~');
  put(&b, job != NULL ? job : "");
  pai__buf_str(&b, "</b>: run <code>openpai show ");
  put(&b, user != NULL ? user : "");
  pai__buf_char(&b, '~');
  put(&b, job != NULL ? job : "");
  pai__buf_str(&b, "</code>.</p>");
  answer_page(r, &b);
}

static void do_jobs(pai__request *r)
{
  pai__buf b;

  pai__buf_init(&b, &r->server->alloc);
  pai__buf_str(&b, "<p>Jobs: run <code>openpai list</code> or "
                   "<code>openpai top</code>. To submit a job: "
                   "<code>openpai submit FILE</code>.</p>");
  answer_page(r, &b);
}

/* --- answers and queries --- */

static const pai__result page = { .type = "text/html" };

static const pai__field job_queries[] = {
  PAI__TAKES(TEXT, "username", "the job's user"),
  PAI__TAKES(TEXT, "userName", "the same"),
  PAI__TAKES(TEXT, "jobName", "the job's name without its user"),
  { 0 }
};

/* --- routes --- */

static const pai__route routes[] = {
  { .method = "GET",
    .path = "/job-detail.html /job-event.html /task-attempt.html",
    .handle = do_job,
    .right = PAI__OF_ALL,
    .result = &page,
    .queries = job_queries,
    .summary = "Show a page about a job, for browsers" },
  { .method = "GET",
    .path = "/index.html /home.html /job-list.html /submit.html /plugin.html "
            "/user-profile.html",
    .handle = do_jobs,
    .right = PAI__OF_ALL,
    .result = &page,
    .summary = "Show a page about jobs, for browsers" },
};

const pai__routes pai__pages_routes = { routes, PAI__LEN(routes) };
