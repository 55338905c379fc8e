/* write.c - writes records as JSON, by their tables */
#include "api/write.h"

#include "base/text/milli.h"

static int64_t number_of(const pai__api_field *f, const void *member)
{
  uint64_t id;
  uint32_t number;
  bool flag;
  pai_time time;
  pai__maybe maybe;

  switch (f->from) {
  case PAI__COLUMN_FLAG: memcpy(&flag, member, sizeof(flag)); return flag;
  case PAI__COLUMN_ID: memcpy(&id, member, sizeof(id)); return (int64_t)id;
  case PAI__COLUMN_NUMBER:
    memcpy(&number, member, sizeof(number));
    return number;
  case PAI__COLUMN_MAYBE:
    memcpy(&maybe, member, sizeof(maybe));
    return maybe.there ? maybe.value : 0;
  default:
    memcpy(&time, member, sizeof(time));
    return time / 1000; /* REST times are in milliseconds */
  }
}

static bool is_there(const pai__api_field *f, const void *member)
{
  const char *text;
  pai_time time;
  pai__maybe maybe;

  switch (f->from) {
  case PAI__COLUMN_TEXT:
  case PAI__COLUMN_WORD:
  case PAI__COLUMN_CLASS:
    memcpy(&text, member, sizeof(text));
    return text != NULL;
  case PAI__COLUMN_TIME:
  case PAI__COLUMN_LAST: memcpy(&time, member, sizeof(time)); return time != 0;
  case PAI__COLUMN_MAYBE:
    memcpy(&maybe, member, sizeof(maybe));
    return maybe.there;
  default: return true;
  }
}

/* Writes a text, or JSON that is stored as text. */
static void put_text(pai__json_writer *w, const pai__api_field *f,
                     const void *member)
{
  const char *text;

  memcpy(&text, member, sizeof(text));
  if (f->kind == PAI__IS_TEXT)
    pai__json_string(w, text);
  else
    pai__json_ready(w, text, strlen(text));
}

static void put_milli(pai__json_writer *w, const void *member)
{
  uint64_t milli;

  memcpy(&milli, member, sizeof(milli));
  pai__json_milli(w, milli);
}

static void put_member(pai__json_writer *w, const pai__api_field *f,
                       const void *member)
{
  if (!is_there(f, member)) {
    if (f->kind == PAI__IS_MAP && (f->flags & PAI__MAY_BE_NULL) == 0)
      pai__json_ready(w, "{}", 2);
    else
      pai__json_null(w);
    return;
  }
  switch (f->from) {
  case PAI__COLUMN_TEXT:
  case PAI__COLUMN_WORD:
  case PAI__COLUMN_CLASS: put_text(w, f, member); break;
  case PAI__COLUMN_MILLI: put_milli(w, member); break;
  default:
    if (f->kind == PAI__IS_FLAG)
      pai__json_bool(w, number_of(f, member) != 0);
    else
      pai__json_int(w, number_of(f, member));
  }
}

int pai__api_write(pai__json_writer *w, const pai__api_record *record,
                   const void *row, pai__api_value_fn value, void *user_data)
{
  int rc = PAI_OK;

  for (const pai__api_field *f = record->fields; f->kind != PAI__END; f++) {
    const void *member =
      f->from != PAI__COLUMN_END ? (const char *)row + f->at : NULL;
    int one = PAI_OK;

    if ((f->flags & (PAI__NEEDED | PAI__MAY_BE_NULL)) == 0 &&
        !is_there(f, member))
      continue;
    pai__json_member(w, f->name);
    if (f->from == PAI__COLUMN_END)
      one = value(user_data, f->id, row);
    else if (f->from == PAI__COLUMN_ROW)
      one = pai__api_object(w, f->record, member, value, user_data);
    else
      put_member(w, f, member);
    rc = rc == PAI_OK ? one : rc;
  }
  return rc;
}

int pai__api_object(pai__json_writer *w, const pai__api_record *record,
                    const void *row, pai__api_value_fn value, void *user_data)
{
  int rc;

  pai__json_begin_object(w);
  rc = pai__api_write(w, record, row, value, user_data);
  pai__json_end_object(w);
  return rc;
}
