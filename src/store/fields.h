/*
 * fields.h - binds, reads, copies and writes rows by their lists of columns
 * (api/schema)
 */
#ifndef PAI_SRC_STORE_FIELDS_H
#define PAI_SRC_STORE_FIELDS_H

#include "base/arena.h"
#include "json/writer.h"
#include "api/rows.h"

#include <sqlite3.h>

/* Largest text or blob of a column; SQLite's limit is 1e9. */
enum { PAI__COLUMN_BYTES_MAX = 1 << 28 };

/* Copies what `row`, a shallow copy, points to into `arena`.  PAI_OK,
 * PAI_ENOMEM or PAI_ELIMIT. */
int pai__fields_own(const pai__column *fields, void *row, pai__arena *arena);
/* Binds as many columns as the statement has parameters; returns their
 * number. */
int pai__fields_bind(const pai__column *fields, sqlite3_stmt *stmt,
                     const void *row);
/* Reads the row from result column `column` on; returns the column after the
 * last one read. */
int pai__fields_read(const pai__column *fields, sqlite3_stmt *stmt, int column,
                     void *row);
/* Writes the row as members of an open JSON object; blobs are left out. */
void pai__fields_json(const pai__column *fields, const void *row,
                      pai__json_writer *w);

#endif
