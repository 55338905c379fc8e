/* tables.c - describes the fields of cluster files for editors */
#include "resource/cluster/read.h"

const char *pai__table_what(const pai__read_table *table)
{
  return table->what;
}

/* A field that its reader handles says its kind beside it. */
static enum pai__read_kind kind_of(const pai__read_field *f,
                                   const pai__read_about *about)
{
  switch (about->kind != PAI__KIND_ANY ? PAI__FIELD_KNOWN : f->type) {
  case PAI__FIELD_TEXT: return PAI__KIND_TEXT;
  case PAI__FIELD_NUMBER: return PAI__KIND_NUMBER;
  case PAI__FIELD_SIZE: return PAI__KIND_SIZE;
  case PAI__FIELD_FLAG: return PAI__KIND_FLAG;
  case PAI__FIELD_ITEMS: return PAI__KIND_LIST;
  case PAI__FIELD_KEYS: return PAI__KIND_KEYS;
  default: return about->kind;
  }
}

bool pai__table_field(const pai__read_table *table, size_t i,
                      pai__read_shown *out)
{
  const pai__read_field *f = &table->fields[i];
  const pai__read_about *about = &table->about[i];

  if (i >= table->count)
    return false;
  *out = (pai__read_shown){ .key = f->key,
                            .says = about->says,
                            .kind = kind_of(f, about),
                            .needed = f->needed,
                            .least = f->least,
                            .most = f->most,
                            .names = f->names,
                            .declares = f->declares,
                            .inside = about->inside };
  return true;
}
