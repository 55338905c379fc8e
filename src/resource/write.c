/* write.c - YAML or JSON, whichever was asked for */
#include "resource/write.h"

#include "resource/read.h"

int pai__out_begin(pai__output *o, const pai_cluster *c, int format,
                   pai_error **err)
{
  if (format != 0 && format != PAI_FORMAT_YAML && format != PAI_FORMAT_JSON)
    return pai__fail(err, PAI_EINVAL, "a cluster is written as YAML or JSON");
  *o = (pai__output){ .json = format == PAI_FORMAT_JSON };
  pai__buf_init(&o->text, &c->alloc);
  if (o->json)
    pai__json_writer_init(&o->j, &o->text, true);
  else
    pai__yaml_writer_init(&o->y, &o->text);
  return PAI_OK;
}

int pai__out_end(pai__output *o, pai_write_cb write, void *user_data,
                 pai_error **err)
{
  int rc = o->json ? pai__json_finish(&o->j) : pai__yaml_finish(&o->y);

  if (rc == PAI_OK)
    rc = write(user_data, pai__buf_text(&o->text), o->text.len);
  else
    rc = rc == PAI_ENOMEM ? pai__oom(err)
                          : pai__fail(err, rc, "a name cannot be written");
  pai__buf_dispose(&o->text);
  return rc;
}

void pai__out_begin_mapping(pai__output *o)
{
  if (o->json)
    pai__json_begin_object(&o->j);
  else
    pai__yaml_begin_mapping(&o->y);
}

void pai__out_end_mapping(pai__output *o)
{
  if (o->json)
    pai__json_end_object(&o->j);
  else
    pai__yaml_end_mapping(&o->y);
}

void pai__out_begin_list(pai__output *o)
{
  if (o->json)
    pai__json_begin_array(&o->j);
  else
    pai__yaml_begin_sequence(&o->y);
}

void pai__out_end_list(pai__output *o)
{
  if (o->json)
    pai__json_end_array(&o->j);
  else
    pai__yaml_end_sequence(&o->y);
}

void pai__out_key(pai__output *o, const char *s)
{
  if (o->json)
    pai__json_key(&o->j, s, strlen(s));
  else
    pai__yaml_key(&o->y, s, strlen(s));
}

void pai__out_text(pai__output *o, const char *s)
{
  if (o->json)
    pai__json_text(&o->j, s, strlen(s));
  else
    pai__yaml_text(&o->y, s, strlen(s));
}

void pai__out_number(pai__output *o, int64_t v)
{
  if (o->json)
    pai__json_int(&o->j, v);
  else
    pai__yaml_int(&o->y, v);
}

void pai__out_flag(pai__output *o, bool v)
{
  if (o->json)
    pai__json_bool(&o->j, v);
  else
    pai__yaml_boolean(&o->y, v);
}

void pai__out_put_text(pai__output *o, const char *name, const char *s)
{
  if (s == NULL)
    return;
  pai__out_key(o, name);
  pai__out_text(o, s);
}

/* What nobody knows is left out. */
void pai__out_put_number(pai__output *o, const char *name, uint32_t v)
{
  if (v == 0)
    return;
  pai__out_key(o, name);
  pai__out_number(o, v);
}

void pai__out_put_size(pai__output *o, const char *name, uint64_t v)
{
  char size[PAI__SIZE_TEXT];

  if (v != 0)
    pai__out_put_text(o, name, pai__size_text(size, v));
}
