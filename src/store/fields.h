/*
 * fields.h - each row's columns, told once: for binding, reading, copying and
 * writing them as JSON
 */
#ifndef PAI_SRC_STORE_FIELDS_H
#define PAI_SRC_STORE_FIELDS_H

#include "base/arena.h"
#include "json/writer.h"
#include "store/rows.h"

#include <sqlite3.h>

enum pai__field_kind {
  PAI__FIELD_END = 0,
  PAI__FIELD_TEXT,   /* NULL is NULL */
  PAI__FIELD_WORD,   /* NULL is "" */
  PAI__FIELD_CLASS,  /* NULL is an empty blob, which comes behind all texts */
  PAI__FIELD_ID,     /* uint64_t */
  PAI__FIELD_NUMBER, /* uint32_t */
  PAI__FIELD_BOOL,
  PAI__FIELD_TIME, /* 0 is NULL */
  PAI__FIELD_LAST, /* a time; 0 is INT64_MAX, which comes behind all others */
  PAI__FIELD_MAYBE,
  PAI__FIELD_BYTES
};

typedef struct pai__field {
  const char *column;
  enum pai__field_kind kind;
  size_t at; /* in the row's struct */
} pai__field;

/* Each ends with PAI__FIELD_END. */
extern const pai__field pai__job_fields[];    /* table job: what lists show */
extern const pai__field pai__detail_fields[]; /* table job_detail */
extern const pai__field pai__attempt_fields[];
extern const pai__field pai__task_fields[];
extern const pai__field pai__start_fields[];
extern const pai__field pai__event_fields[]; /* but its uid */

extern const pai__field pai__account_fields[];
extern const pai__field pai__group_fields[];
extern const pai__field pai__token_fields[];
extern const pai__field pai__gone_fields[];
extern const pai__field pai__storage_fields[];
extern const pai__field pai__audit_fields[]; /* but its id */

/* What a text or a blob may take; SQLite takes up to 1e9. */
enum { PAI__FIELD_BYTES_MAX = 1 << 28 };

/* Makes `row`, a shallow copy of another, one of its own.  PAI_OK, PAI_ENOMEM
 * or PAI_ELIMIT. */
int pai__fields_own(const pai__field *fields, void *row, pai__arena *arena);
/* Binds as many as the statement has parameters; returns how many. */
int pai__fields_bind(const pai__field *fields, sqlite3_stmt *stmt,
                     const void *row);
/* Reads from `column` on; returns the column behind them. */
int pai__fields_read(const pai__field *fields, sqlite3_stmt *stmt, int column,
                     void *row);
/* As members of an object that has begun; without bytes. */
void pai__fields_json(const pai__field *fields, const void *row,
                      pai__json_writer *w);

#endif
