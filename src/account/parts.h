/*
 * parts.h - what objects of this room and of room market are made of: lists of
 * names, tables, JSON in and out, errors of the API
 */
#ifndef PAI_SRC_ACCOUNT_PARTS_H
#define PAI_SRC_ACCOUNT_PARTS_H

#include "account/account.h"
#include "json/json.h"
#include "json/node.h"
#include "json/writer.h"

/* --- lists of names (names.c) -------------------------------------------- */

typedef struct pai__strings {
  char **at; /* owned, as is each name */
  size_t n, cap;
} pai__strings;

void pai__strings_free(const pai_alloc *alloc, pai__strings *s);
int pai__strings_copy(const pai_alloc *alloc, pai__strings *to,
                      const pai__strings *from);
bool pai__strings_has(const pai__strings *s, const char *name);
/* Adds a name, even if the list has it already. */
int pai__strings_push(const pai_alloc *alloc, pai__strings *s,
                      const char *name);
/* Adds a name unless the list has it already. */
int pai__strings_add(const pai_alloc *alloc, pai__strings *s,
                     const char *name);
void pai__strings_drop(const pai_alloc *alloc, pai__strings *s,
                       const char *name);
/* Returns the list as JSON, for pai__strfree(); NULL if out of memory. */
char *pai__strings_json(const pai_alloc *alloc, const pai__strings *s);

/* Replaces an owned text. */
int pai__set_text(const pai_alloc *alloc, char **to, const char *text);
/* Replaces owned bytes; frees the old ones. */
int pai__set_bytes(const pai_alloc *alloc, pai__bytes *to, pai__bytes bytes);
/* Wipes and frees a text; NULL is allowed. */
void pai__forget(const pai_alloc *alloc, char *text);

bool pai__is_user_name(const char *name);  /* ^[\w.-]+$, as in job names */
bool pai__is_group_name(const char *name); /* ^[A-Za-z0-9_]+$ */

/* --- tables: owned objects; the first member is the name (names.c) ------- */

typedef struct pai__account_table {
  void **at;
  size_t n, cap;
} pai__account_table;

void *pai__table_find(const pai__account_table *t, const char *name);
int pai__table_room(const pai_alloc *alloc, pai__account_table *t,
                    size_t more);
/* requires free capacity */
void pai__table_add(pai__account_table *t, void *thing);
/* Returns the slot of an object that is in the table. */
void **pai__table_place(const pai__account_table *t, const char *name);
void pai__table_drop(pai__account_table *t, const char *name);

/* --- errors (error.c) ---------------------------------------------------- */

/* Sets the API's status and error code on the error just made; returns rc. */
int pai__as(pai_error **err, int rc, int status, const char *api);
int pai__no_user(pai_error **err, int status, const char *name);
int pai__no_group(pai_error **err, int status, const char *name);
/* The error for secrets that cannot be decrypted. */
int pai__is_closed(pai_error **err, const char *kind, const char *name);
int pai__invalid(pai_error **err, const char *fmt, ...) PAI__PRINTF(2, 3);

/* --- JSON input (input.c) ------------------------------------------------ */

enum pai__input_kind {
  PAI__INPUT_TEXT, /* const char * */
  PAI__INPUT_BOOL,
  PAI__INPUT_OBJECT, /* pai__node */
  PAI__INPUT_LIST    /* pai__node: a list of texts */
};

/* A member of an object, and its place in a struct. */
typedef struct pai__input_field {
  const char *name;
  enum pai__input_kind kind;
  size_t at;
} pai__input_field;

/* Parses an object that may only have these members; the list ends with a name
 * of NULL.  A missing member leaves its place in *members unchanged. */
int pai__input_parse(pai__tree **out, const pai_alloc *alloc, const char *json,
                     size_t len, const pai__input_field *fields, void *members,
                     pai_error **err);
/* Adds the texts of a list. */
int pai__input_names(const pai_alloc *alloc, const pai__tree *t,
                     pai__node list, pai__strings *out);

/* --- JSON output (output.c) ---------------------------------------------- */

typedef struct pai__wire {
  pai__json_writer w;
  pai__buf buf;
} pai__wire;

void pai__wire_begin(pai__wire *o, const pai_alloc *alloc, pai_write_cb write,
                     void *user_data);
int pai__wire_end(pai__wire *o, int rc, pai_error **err);
/* Writes a list of names as the next value. */
void pai__wire_names(pai__json_writer *w, const pai__strings *names);

#endif
