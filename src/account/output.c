/* output.c - what is written, piece by piece, to whoever asked */
#include "account/inside.h"

void pai__wire_begin(pai__wire *o, pai_accounts *a, pai_write_cb write,
                     void *user_data)
{
  pai__buf_init(&o->buf, &a->alloc);
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

void pai__wire_key(pai__json_writer *w, const char *key)
{
  pai__json_key(w, key, strlen(key));
}

void pai__wire_text(pai__json_writer *w, const char *key, const char *value)
{
  pai__wire_key(w, key);
  if (value != NULL)
    pai__json_text(w, value, strlen(value));
  else
    pai__json_null(w);
}

void pai__wire_bool(pai__json_writer *w, const char *key, bool value)
{
  pai__wire_key(w, key);
  pai__json_bool(w, value);
}

void pai__wire_names(pai__json_writer *w, const char *key,
                     const pai__strings *names)
{
  pai__wire_key(w, key);
  pai__json_begin_array(w);
  for (size_t i = 0; i < names->n; i++)
    pai__json_text(w, names->at[i], strlen(names->at[i]));
  pai__json_end_array(w);
}
