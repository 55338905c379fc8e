/* output.c - JSON output in pieces to a caller */
#include "account/inside.h"

void pai__wire_begin(pai__wire *o, const pai_alloc *alloc, pai_write_cb write,
                     void *user_data)
{
  pai__buf_init(&o->buf, alloc);
  pai__json_writer_init(&o->w, &o->buf, false);
  pai__json_writer_to(&o->w, write, user_data);
}

int pai__wire_end(pai__wire *o, int rc, pai_error **err)
{
  int end = pai__json_finish(&o->w);

  pai__buf_dispose(&o->buf);
  if (rc == PAI_OK)
    rc = end;
  return rc == PAI_ENOMEM && (err == NULL || *err == NULL) ? pai__oom(err)
                                                           : rc;
}

void pai__wire_names(pai__json_writer *w, const pai__strings *names)
{
  pai__json_begin_array(w);
  for (size_t i = 0; i < names->n; i++)
    pai__json_string(w, names->at[i]);
  pai__json_end_array(w);
}
