/* public_exit.c - the exit spec (openpai/job.h) */
#include "job/end/exit.h"

#include <openpai/job.h>

static int view_exit(pai_exit_view *view, const pai__exit *e)
{
  pai_exit_view full = { .struct_size = sizeof(full),
                         .code = e->code,
                         .phrase = e->phrase,
                         .issuer = e->issuer,
                         .causer = e->causer,
                         .type = e->type,
                         .stage = e->stage,
                         .behavior = pai__exit_behavior(e),
                         .reaction = pai__exit_reaction(e),
                         .reason = e->why,
                         .solution = e->what_to_do };

  return PAI__FILL_VIEW(view, full, pai_exit_view, solution);
}

int pai_exit_find(pai_exit_view *view, int code)
{
  PAI__CHECK_ARG(view != NULL);
  return view_exit(view, pai__exit_find(code));
}

int pai_exit_at(pai_exit_view *view, size_t i)
{
  PAI__CHECK_ARG(view != NULL);
  return i < pai__exit_count ? view_exit(view, &pai__exit_rows[i])
                             : PAI_ENOTFOUND;
}

int pai_exit_write(int code, pai_write_cb write, void *user_data,
                   pai_error **err)
{
  pai__json_writer w;
  pai__buf out;
  int rc;

  PAI__CHECK_ARG_ERR(write != NULL, err);
  pai__buf_init(&out, &pai__libc_alloc);
  pai__json_writer_init(&w, &out, false);
  pai__exit_write(&w, pai__exit_find(code), code);
  rc = pai__json_finish(&w) < 0
         ? pai__oom(err)
         : write(user_data, pai__buf_text(&out), out.len);
  pai__buf_dispose(&out);
  return rc < 0 ? rc : PAI_OK;
}
