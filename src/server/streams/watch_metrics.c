/*
 * watch_metrics.c - the use of a job or a node, each second, as server-sent
 * events
 *
 * An event "sample" has its time and a value for each series that
 * GET .../metrics lists, in the same order.  A slow reader misses samples.
 */
#include "server/monitor/time_series.h"

#define SECOND INT64_C(1000000)

enum {
  BEHIND = 16 << 10 /* bytes of a reader from which samples are left out */
};

typedef struct watcher {
  pai_alloc alloc;
  pai__request *request;
  pai__metrics_view view;
  pai__sampling_reader reader;
} watcher;

static void free_watcher(void *source)
{
  watcher *w = source;
  pai_alloc alloc = w->alloc;

  pai__sampling_leave(w->request->server, &w->reader);
  pai__free(&alloc, w, sizeof(*w));
}

static const pai__server_source source = { NULL, NULL, free_watcher, false };

static void on_sample(void *user_data)
{
  const watcher *x = user_data;
  const pai__sampling *u = x->request->server->sampling;
  pai__stream *stream = x->request->stream;
  pai__json_writer w;
  pai__buf out;
  int rc;

  if (stream == NULL || stream->queue.len - stream->sent > BEHIND)
    return;
  pai__buf_init(&out, &x->alloc);
  pai__buf_str(&out, "event: sample\ndata: ");
  pai__json_writer_init(&w, &out, false);
  pai__json_begin_object(&w);
  pai__json_put_int(&w, "time", u->last / 1000);
  pai__json_member(&w, "values");
  rc = pai__metrics_write_now(&w, u, &x->view, u->last / SECOND);
  pai__json_end_object(&w);
  if (rc == PAI_OK)
    rc = pai__json_finish(&w);
  pai__buf_str(&out, "\n\n");
  if (rc == PAI_OK && pai__buf_ok(&out))
    pai__stream_add(stream, out.data, out.len);
  pai__buf_dispose(&out);
}

static void watch(pai__request *r, const pai__metrics_view *view)
{
  static const char begins[] = ": begins\n\n";
  watcher *w = pai__zalloc(&r->server->alloc, sizeof(*w));

  if (w == NULL) {
    pai__answer_failure(r, PAI_ENOMEM);
    return;
  }
  *w = (watcher){ .alloc = r->server->alloc,
                  .request = r,
                  .view = *view,
                  .reader = { .on_sample = on_sample, .user_data = w } };
  pai__sampling_join(r->server, &w->reader);
  if (pai__stream_begin(r, "text/event-stream", &source, w))
    pai__stream_add(r->stream, begins, sizeof(begins) - 1);
}

void pai__do_jobs_watch_metrics(pai__request *r)
{
  pai_job_id job = pai__request_job(r);
  pai__metrics_view view;

  if (job == 0)
    return;
  pai__metrics_of_job(&view, job);
  watch(r, &view);
}

void pai__do_nodes_watch_metrics(pai__request *r)
{
  pai__metrics_view view;

  if (pai__metrics_of_node(&view, r))
    watch(r, &view);
}
