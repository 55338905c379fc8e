/* fields.c - converts rows between structs, statements and JSON */
#include "store/fields.h"

/* --- members by kind ----------------------------------------------------- */

static const void *member(const pai__column *f, const void *row)
{
  return (const char *)row + f->at;
}

static const char *text_of(const pai__column *f, const void *row)
{
  const char *text;

  memcpy(&text, member(f, row), sizeof(text));
  return text;
}

static int64_t time_of(const pai__column *f, const void *row)
{
  pai_time t;

  memcpy(&t, member(f, row), sizeof(t));
  return t;
}

static bool is_text(const pai__column *f)
{
  return f->kind == PAI__COLUMN_TEXT || f->kind == PAI__COLUMN_WORD ||
         f->kind == PAI__COLUMN_CLASS;
}

int pai__fields_own(const pai__column *fields, void *row, pai__arena *arena)
{
  for (const pai__column *f = fields; f->kind != PAI__COLUMN_END; f++) {
    void *to = (char *)row + f->at;

    if (is_text(f) && text_of(f, row) != NULL) {
      const char *text = text_of(f, row);
      size_t len = strlen(text);
      if (len > PAI__COLUMN_BYTES_MAX)
        return PAI_ELIMIT;
      text = pai__arena_strndup(arena, text, len);
      if (text == NULL)
        return PAI_ENOMEM;
      memcpy(to, &text, sizeof(text));
    } else if (f->kind == PAI__COLUMN_BYTES) {
      pai__bytes bytes;
      memcpy(&bytes, to, sizeof(bytes));
      if (bytes.len > PAI__COLUMN_BYTES_MAX)
        return PAI_ELIMIT;
      if (bytes.data != NULL) {
        bytes.data = pai__arena_strndup(arena, bytes.data, bytes.len);
        if (bytes.data == NULL)
          return PAI_ENOMEM;
        memcpy(to, &bytes, sizeof(bytes));
      }
    }
  }
  return PAI_OK;
}

/* --- statements ---------------------------------------------------------- */

static int bind_time(sqlite3_stmt *stmt, int at, int64_t t, bool last)
{
  if (t == 0 && !last)
    return sqlite3_bind_null(stmt, at);
  return sqlite3_bind_int64(stmt, at, t == 0 ? INT64_MAX : t);
}

static int bind_text(sqlite3_stmt *stmt, int at, const pai__column *f,
                     const char *text)
{
  if (text == NULL && f->kind == PAI__COLUMN_CLASS)
    return sqlite3_bind_zeroblob(stmt, at, 0);
  if (text == NULL && f->kind == PAI__COLUMN_WORD)
    text = "";
  return sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC);
}

static int bind_other(sqlite3_stmt *stmt, int at, const pai__column *f,
                      const void *from)
{
  if (f->kind == PAI__COLUMN_ID) {
    uint64_t id;
    memcpy(&id, from, sizeof(id));
    return sqlite3_bind_int64(stmt, at, (sqlite3_int64)id);
  }
  if (f->kind == PAI__COLUMN_NUMBER) {
    uint32_t number;
    memcpy(&number, from, sizeof(number));
    return sqlite3_bind_int64(stmt, at, number);
  }
  if (f->kind == PAI__COLUMN_FLAG) {
    bool yes;
    memcpy(&yes, from, sizeof(yes));
    return sqlite3_bind_int(stmt, at, yes ? 1 : 0);
  }
  if (f->kind == PAI__COLUMN_MAYBE) {
    pai__maybe m;
    memcpy(&m, from, sizeof(m));
    return m.there ? sqlite3_bind_int64(stmt, at, m.value)
                   : sqlite3_bind_null(stmt, at);
  } else {
    pai__bytes bytes;
    memcpy(&bytes, from, sizeof(bytes));
    return sqlite3_bind_blob64(stmt, at, bytes.data, bytes.len, SQLITE_STATIC);
  }
}

/* Nothing is copied, and no value exceeds SQLite's limit, so binding cannot
 * fail. */
int pai__fields_bind(const pai__column *fields, sqlite3_stmt *stmt,
                     const void *row)
{
  int most = sqlite3_bind_parameter_count(stmt), n = 0;

  for (const pai__column *f = fields; f->kind != PAI__COLUMN_END && n < most;
       f++) {
    n++;
    if (is_text(f))
      (void)bind_text(stmt, n, f, text_of(f, row));
    else if (f->kind == PAI__COLUMN_TIME || f->kind == PAI__COLUMN_LAST)
      (void)bind_time(stmt, n, time_of(f, row), f->kind == PAI__COLUMN_LAST);
    else
      (void)bind_other(stmt, n, f, member(f, row));
  }
  return n;
}

static void read_number(sqlite3_stmt *stmt, int column, const pai__column *f,
                        void *to)
{
  int64_t value = sqlite3_column_int64(stmt, column);
  bool null = sqlite3_column_type(stmt, column) == SQLITE_NULL;

  if (f->kind == PAI__COLUMN_NUMBER) {
    uint32_t number = (uint32_t)value;
    memcpy(to, &number, sizeof(number));
  } else if (f->kind == PAI__COLUMN_FLAG) {
    bool yes = value != 0;
    memcpy(to, &yes, sizeof(yes));
  } else if (f->kind == PAI__COLUMN_MAYBE) {
    pai__maybe m = { .there = !null, .value = value };
    memcpy(to, &m, sizeof(m));
  } else { /* an id or a time */
    if (f->kind == PAI__COLUMN_LAST && value == INT64_MAX)
      value = 0;
    memcpy(to, &value, sizeof(value));
  }
}

int pai__fields_read(const pai__column *fields, sqlite3_stmt *stmt, int column,
                     void *row)
{
  for (const pai__column *f = fields; f->kind != PAI__COLUMN_END;
       f++, column++) {
    void *to = (char *)row + f->at;

    if (f->kind == PAI__COLUMN_BYTES) {
      pai__bytes bytes = { .data = sqlite3_column_blob(stmt, column) };
      bytes.len = (size_t)sqlite3_column_bytes(stmt, column);
      memcpy(to, &bytes, sizeof(bytes));
    } else if (is_text(f)) {
      const char *text = NULL;
      if (sqlite3_column_type(stmt, column) == SQLITE_TEXT)
        text = (const char *)sqlite3_column_text(stmt, column);
      memcpy(to, &text, sizeof(text));
    } else {
      read_number(stmt, column, f, to);
    }
  }
  return column;
}

/* --- JSON ---------------------------------------------------------------- */

static void write_number(const pai__column *f, const void *from,
                         pai__json_writer *w)
{
  int64_t value = 0;

  if (f->kind == PAI__COLUMN_NUMBER) {
    uint32_t number;
    memcpy(&number, from, sizeof(number));
    value = number;
  } else if (f->kind == PAI__COLUMN_MAYBE) {
    pai__maybe m;
    memcpy(&m, from, sizeof(m));
    if (!m.there) {
      pai__json_null(w);
      return;
    }
    value = m.value;
  } else {
    memcpy(&value, from, sizeof(value));
    if (value == 0 && f->kind != PAI__COLUMN_ID) {
      pai__json_null(w); /* a time that is not set */
      return;
    }
  }
  pai__json_int(w, value);
}

void pai__fields_json(const pai__column *fields, const void *row,
                      pai__json_writer *w)
{
  for (const pai__column *f = fields; f->kind != PAI__COLUMN_END; f++) {
    if (f->kind == PAI__COLUMN_BYTES)
      continue;
    pai__json_member(w, f->column);
    if (is_text(f)) {
      const char *text = text_of(f, row);
      pai__json_string(w, text);
    } else if (f->kind == PAI__COLUMN_FLAG) {
      bool yes;
      memcpy(&yes, member(f, row), sizeof(yes));
      pai__json_bool(w, yes);
    } else {
      write_number(f, member(f, row), w);
    }
  }
}
