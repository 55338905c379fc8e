/* fields.c - rows between structs, statements and JSON */
#include "store/fields.h"

#define TEXT(row, name)                         \
  {                                             \
#name, PAI__FIELD_TEXT, offsetof(row, name) \
  }
#define WORD(row, name)                         \
  {                                             \
#name, PAI__FIELD_WORD, offsetof(row, name) \
  }
#define NUMBER(row, name)                         \
  {                                               \
#name, PAI__FIELD_NUMBER, offsetof(row, name) \
  }
#define TIME(row, name)                         \
  {                                             \
#name, PAI__FIELD_TIME, offsetof(row, name) \
  }
#define MAYBE(row, name)                         \
  {                                              \
#name, PAI__FIELD_MAYBE, offsetof(row, name) \
  }

/* An attempt's and a start's columns are in two tables each: as a row of its
 * own, and within the job's or the task's. */
/* clang-format off */
#define ATTEMPT(row, prefix, at)                                              \
  { prefix "number", PAI__FIELD_NUMBER, offsetof(row, at number) },           \
  { prefix "uid", PAI__FIELD_TEXT, offsetof(row, at uid) },                   \
  { prefix "state", PAI__FIELD_WORD, offsetof(row, at state) },               \
  { prefix "created", PAI__FIELD_TIME, offsetof(row, at created) },           \
  { prefix "launched", PAI__FIELD_TIME, offsetof(row, at launched) },         \
  { prefix "completed", PAI__FIELD_TIME, offsetof(row, at completed) },       \
  { prefix "exit_code", PAI__FIELD_MAYBE, offsetof(row, at exit_code) },      \
  { prefix "user_code", PAI__FIELD_MAYBE, offsetof(row, at user_code) },      \
  { prefix "why", PAI__FIELD_TEXT, offsetof(row, at why) },                   \
  { prefix "failure", PAI__FIELD_TEXT, offsetof(row, at failure) },           \
  { prefix "diagnostics", PAI__FIELD_TEXT, offsetof(row, at diagnostics) },   \
  { prefix "messages", PAI__FIELD_TEXT, offsetof(row, at messages) },         \
  { prefix "trigger", PAI__FIELD_TEXT, offsetof(row, at trigger) },           \
  { prefix "trigger_role", PAI__FIELD_TEXT, offsetof(row, at trigger_role) }, \
  { prefix "trigger_index", PAI__FIELD_MAYBE, offsetof(row, at trigger_index) }

#define START(row, prefix, at)                                                \
  { prefix "number", PAI__FIELD_NUMBER, offsetof(row, at number) },           \
  { prefix "uid", PAI__FIELD_TEXT, offsetof(row, at uid) },                   \
  { prefix "state", PAI__FIELD_WORD, offsetof(row, at state) },               \
  { prefix "node", PAI__FIELD_TEXT, offsetof(row, at node) },                 \
  { prefix "ip", PAI__FIELD_TEXT, offsetof(row, at ip) },                     \
  { prefix "ports", PAI__FIELD_TEXT, offsetof(row, at ports) },               \
  { prefix "gpus", PAI__FIELD_TEXT, offsetof(row, at gpus) },                 \
  { prefix "dir", PAI__FIELD_TEXT, offsetof(row, at dir) },                   \
  { prefix "created", PAI__FIELD_TIME, offsetof(row, at created) },           \
  { prefix "launched", PAI__FIELD_TIME, offsetof(row, at launched) },         \
  { prefix "completed", PAI__FIELD_TIME, offsetof(row, at completed) },       \
  { prefix "exit_code", PAI__FIELD_MAYBE, offsetof(row, at exit_code) },      \
  { prefix "user_code", PAI__FIELD_MAYBE, offsetof(row, at user_code) },      \
  { prefix "output_lost", PAI__FIELD_BOOL, offsetof(row, at output_lost) },   \
  { prefix "runtime", PAI__FIELD_TEXT, offsetof(row, at runtime) },           \
  { prefix "why", PAI__FIELD_TEXT, offsetof(row, at why) },                   \
  { prefix "failure", PAI__FIELD_TEXT, offsetof(row, at failure) },           \
  { prefix "diagnostics", PAI__FIELD_TEXT, offsetof(row, at diagnostics) },   \
  { prefix "messages", PAI__FIELD_TEXT, offsetof(row, at messages) }

#define NOTHING /* nothing: the row itself */

const pai__field pai__job_fields[] = {
  { "id", PAI__FIELD_ID, offsetof(pai__job_row, id) },
  WORD(pai__job_row, user),
  WORD(pai__job_row, name),
  { "submitted", PAI__FIELD_LAST, offsetof(pai__job_row, submitted) },
  WORD(pai__job_row, vc),
  { "priority", PAI__FIELD_CLASS, offsetof(pai__job_row, priority) },
  WORD(pai__job_row, state),
  WORD(pai__job_row, sub_state),
  WORD(pai__job_row, execution),
  { "live", PAI__FIELD_BOOL, offsetof(pai__job_row, live) },
  TIME(pai__job_row, created),
  TIME(pai__job_row, launched),
  { "completed", PAI__FIELD_LAST, offsetof(pai__job_row, completed) },
  MAYBE(pai__job_row, exit_code),
  NUMBER(pai__job_row, user_retries),
  NUMBER(pai__job_row, platform_retries),
  MAYBE(pai__job_row, retry_delay),
  NUMBER(pai__job_row, gpus),
  NUMBER(pai__job_row, tasks),
  NUMBER(pai__job_row, roles),
  { "output_lost", PAI__FIELD_BOOL, offsetof(pai__job_row, output_lost) },
  { NULL, PAI__FIELD_END, 0 },
};

const pai__field pai__detail_fields[] = {
  ATTEMPT(pai__job_row, "now_", now.),
  { "fold", PAI__FIELD_BYTES, offsetof(pai__job_row, fold) },
  { NULL, PAI__FIELD_END, 0 },
};

const pai__field pai__attempt_fields[] = {
  ATTEMPT(pai__attempt_row, "", NOTHING),
  { NULL, PAI__FIELD_END, 0 },
};

const pai__field pai__task_fields[] = {
  { "job", PAI__FIELD_ID, offsetof(pai__task_row, job) },
  NUMBER(pai__task_row, attempt),
  WORD(pai__task_row, role),
  { "idx", PAI__FIELD_NUMBER, offsetof(pai__task_row, index) },
  WORD(pai__task_row, state),
  WORD(pai__task_row, sub_state),
  NUMBER(pai__task_row, retries),
  NUMBER(pai__task_row, counted),
  TIME(pai__task_row, created),
  TIME(pai__task_row, launched),
  TIME(pai__task_row, completed),
  MAYBE(pai__task_row, exit_code),
  START(pai__task_row, "now_", now.),
  { "fold", PAI__FIELD_BYTES, offsetof(pai__task_row, fold) },
  { NULL, PAI__FIELD_END, 0 },
};

const pai__field pai__start_fields[] = {
  START(pai__start_row, "", NOTHING),
  { NULL, PAI__FIELD_END, 0 },
};

const pai__field pai__event_fields[] = {
  { "job", PAI__FIELD_ID, offsetof(pai__event_row, job) },
  TEXT(pai__event_row, task_uid),
  TEXT(pai__event_row, role),
  { "idx", PAI__FIELD_MAYBE, offsetof(pai__event_row, index) },
  WORD(pai__event_row, type),
  WORD(pai__event_row, reason),
  WORD(pai__event_row, message),
  TEXT(pai__event_row, component),
  TEXT(pai__event_row, host),
  TIME(pai__event_row, first),
  TIME(pai__event_row, last),
  NUMBER(pai__event_row, count),
  { NULL, PAI__FIELD_END, 0 },
};

const pai__field pai__account_fields[] = {
  WORD(pai__account_row, name),
  WORD(pai__account_row, password),
  WORD(pai__account_row, email),
  WORD(pai__account_row, groups),
  TIME(pai__account_row, created),
  TEXT(pai__account_row, quota),
  { "sealed", PAI__FIELD_BYTES, offsetof(pai__account_row, secret) },
  { NULL, PAI__FIELD_END, 0 },
};

const pai__field pai__group_fields[] = {
  WORD(pai__group_row, name),
  WORD(pai__group_row, description),
  WORD(pai__group_row, external_name),
  WORD(pai__group_row, extension),
  { NULL, PAI__FIELD_END, 0 },
};

const pai__field pai__token_fields[] = {
  WORD(pai__token_row, uid),
  WORD(pai__token_row, user),
  { "application", PAI__FIELD_BOOL, offsetof(pai__token_row, application) },
  TIME(pai__token_row, issued),
  TIME(pai__token_row, expires),
  TEXT(pai__token_row, name),
  NUMBER(pai__token_row, scopes),
  TIME(pai__token_row, used),
  { NULL, PAI__FIELD_END, 0 },
};

const pai__field pai__gone_fields[] = {
  WORD(pai__gone_row, name),
  { "job", PAI__FIELD_ID, offsetof(pai__gone_row, job) },
  TIME(pai__gone_row, time),
  TEXT(pai__gone_row, heir),
  { NULL, PAI__FIELD_END, 0 },
};

const pai__field pai__storage_fields[] = {
  WORD(pai__storage_row, name),
  WORD(pai__storage_row, type),
  { "shared", PAI__FIELD_BOOL, offsetof(pai__storage_row, shared) },
  { "readonly", PAI__FIELD_BOOL, offsetof(pai__storage_row, readonly) },
  TEXT(pai__storage_row, options),
  TEXT(pai__storage_row, secret_name),
  TEXT(pai__storage_row, mounted_at),
  { "sealed", PAI__FIELD_BYTES, offsetof(pai__storage_row, secret) },
  { NULL, PAI__FIELD_END, 0 },
};

const pai__field pai__audit_fields[] = {
  TIME(pai__audit_row, time),
  TEXT(pai__audit_row, user),
  TEXT(pai__audit_row, peer),
  WORD(pai__audit_row, what),
  NUMBER(pai__audit_row, status),
  { NULL, PAI__FIELD_END, 0 },
};
/* clang-format on */

/* --- members, by their kind -------------------------------------------------- */

static const void *member(const pai__field *f, const void *row)
{
  return (const char *)row + f->at;
}

static const char *text_of(const pai__field *f, const void *row)
{
  const char *text;

  memcpy(&text, member(f, row), sizeof(text));
  return text;
}

static int64_t time_of(const pai__field *f, const void *row)
{
  pai_time t;

  memcpy(&t, member(f, row), sizeof(t));
  return t;
}

static bool is_text(const pai__field *f)
{
  return f->kind == PAI__FIELD_TEXT || f->kind == PAI__FIELD_WORD ||
         f->kind == PAI__FIELD_CLASS;
}

int pai__fields_own(const pai__field *fields, void *row, pai__arena *arena)
{
  for (const pai__field *f = fields; f->kind != PAI__FIELD_END; f++) {
    void *to = (char *)row + f->at;

    if (is_text(f) && text_of(f, row) != NULL) {
      const char *text = text_of(f, row);
      size_t len = strlen(text);
      if (len > PAI__FIELD_BYTES_MAX)
        return PAI_ELIMIT;
      text = pai__arena_strndup(arena, text, len);
      if (text == NULL)
        return PAI_ENOMEM;
      memcpy(to, &text, sizeof(text));
    } else if (f->kind == PAI__FIELD_BYTES) {
      pai__bytes bytes;
      memcpy(&bytes, to, sizeof(bytes));
      if (bytes.len > PAI__FIELD_BYTES_MAX)
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

/* --- statements --------------------------------------------------------------- */

static int bind_time(sqlite3_stmt *stmt, int at, int64_t t, bool last)
{
  if (t == 0 && !last)
    return sqlite3_bind_null(stmt, at);
  return sqlite3_bind_int64(stmt, at, t == 0 ? INT64_MAX : t);
}

static int bind_text(sqlite3_stmt *stmt, int at, const pai__field *f,
                     const char *text)
{
  if (text == NULL && f->kind == PAI__FIELD_CLASS)
    return sqlite3_bind_zeroblob(stmt, at, 0);
  if (text == NULL && f->kind == PAI__FIELD_WORD)
    text = "";
  return sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC);
}

static int bind_other(sqlite3_stmt *stmt, int at, const pai__field *f,
                      const void *from)
{
  if (f->kind == PAI__FIELD_ID) {
    uint64_t id;
    memcpy(&id, from, sizeof(id));
    return sqlite3_bind_int64(stmt, at, (sqlite3_int64)id);
  }
  if (f->kind == PAI__FIELD_NUMBER) {
    uint32_t number;
    memcpy(&number, from, sizeof(number));
    return sqlite3_bind_int64(stmt, at, number);
  }
  if (f->kind == PAI__FIELD_BOOL) {
    bool yes;
    memcpy(&yes, from, sizeof(yes));
    return sqlite3_bind_int(stmt, at, yes ? 1 : 0);
  }
  if (f->kind == PAI__FIELD_MAYBE) {
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

/* Nothing is copied, and no value is longer than SQLite takes: binding does not
 * fail. */
int pai__fields_bind(const pai__field *fields, sqlite3_stmt *stmt,
                     const void *row)
{
  int most = sqlite3_bind_parameter_count(stmt), n = 0;

  for (const pai__field *f = fields; f->kind != PAI__FIELD_END && n < most;
       f++) {
    n++;
    if (is_text(f))
      (void)bind_text(stmt, n, f, text_of(f, row));
    else if (f->kind == PAI__FIELD_TIME || f->kind == PAI__FIELD_LAST)
      (void)bind_time(stmt, n, time_of(f, row), f->kind == PAI__FIELD_LAST);
    else
      (void)bind_other(stmt, n, f, member(f, row));
  }
  return n;
}

static void read_number(sqlite3_stmt *stmt, int column, const pai__field *f,
                        void *to)
{
  int64_t value = sqlite3_column_int64(stmt, column);
  bool null = sqlite3_column_type(stmt, column) == SQLITE_NULL;

  if (f->kind == PAI__FIELD_NUMBER) {
    uint32_t number = (uint32_t)value;
    memcpy(to, &number, sizeof(number));
  } else if (f->kind == PAI__FIELD_BOOL) {
    bool yes = value != 0;
    memcpy(to, &yes, sizeof(yes));
  } else if (f->kind == PAI__FIELD_MAYBE) {
    pai__maybe m = { .there = !null, .value = value };
    memcpy(to, &m, sizeof(m));
  } else { /* an id, or a time */
    if (f->kind == PAI__FIELD_LAST && value == INT64_MAX)
      value = 0;
    memcpy(to, &value, sizeof(value));
  }
}

int pai__fields_read(const pai__field *fields, sqlite3_stmt *stmt, int column,
                     void *row)
{
  for (const pai__field *f = fields; f->kind != PAI__FIELD_END;
       f++, column++) {
    void *to = (char *)row + f->at;

    if (f->kind == PAI__FIELD_BYTES) {
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

/* --- JSON --------------------------------------------------------------------- */

static void write_number(const pai__field *f, const void *from,
                         pai__json_writer *w)
{
  int64_t value = 0;

  if (f->kind == PAI__FIELD_NUMBER) {
    uint32_t number;
    memcpy(&number, from, sizeof(number));
    value = number;
  } else if (f->kind == PAI__FIELD_MAYBE) {
    pai__maybe m;
    memcpy(&m, from, sizeof(m));
    if (!m.there) {
      pai__json_null(w);
      return;
    }
    value = m.value;
  } else {
    memcpy(&value, from, sizeof(value));
    if (value == 0 && f->kind != PAI__FIELD_ID) {
      pai__json_null(w); /* a time */
      return;
    }
  }
  pai__json_int(w, value);
}

void pai__fields_json(const pai__field *fields, const void *row,
                      pai__json_writer *w)
{
  for (const pai__field *f = fields; f->kind != PAI__FIELD_END; f++) {
    if (f->kind == PAI__FIELD_BYTES)
      continue;
    pai__json_key(w, f->column, strlen(f->column));
    if (is_text(f)) {
      const char *text = text_of(f, row);
      if (text != NULL)
        pai__json_text(w, text, strlen(text));
      else
        pai__json_null(w);
    } else if (f->kind == PAI__FIELD_BOOL) {
      bool yes;
      memcpy(&yes, member(f, row), sizeof(yes));
      pai__json_bool(w, yes);
    } else {
      write_number(f, member(f, row), w);
    }
  }
}
