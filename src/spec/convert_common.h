/*
 * convert_common.h - internal to the conversions: what one direction writes
 * and the other has to recognize
 */
#ifndef PAI_SRC_SPEC_CONVERT_COMMON_H
#define PAI_SRC_SPEC_CONVERT_COMMON_H

#include "base/arena.h"
#include "base/map.h"
#include "spec/convert.h"

typedef struct text {
  const char *s; /* a NUL follows, unless it is a part of another text */
  size_t len;
} text;

/* After the first failure every call does nothing and gives an empty value. */
typedef struct convert {
  const pai__tree *tree;
  const pai_alloc *alloc;
  pai__arena arena; /* all texts made here */
  pai__convert_note_cb note;
  void *user_data;
  int rc;
} convert;

void pai__conv_init(convert *c, const pai__tree *t, const pai_alloc *alloc,
                    pai__convert_note_cb note, void *user_data);
void pai__conv_dispose(convert *c);

void pai__conv_note(convert *c, pai__node at, int severity, const char *code,
                    const char *help, const char *fmt, ...) PAI__PRINTF(6, 7);

/* --- looking ------------------------------------------------------------ */

static inline bool pai__conv_is(const convert *c, pai__node n, int type)
{
  return n != PAI__NO_NODE && pai__tree_type(c->tree, n) == type;
}

/* The value of a field, or PAI__NO_NODE; the mapping may be that too. */
pai__node pai__conv_get(const convert *c, pai__node mapping, const char *key);
/* n if it is of a type, else PAI__NO_NODE. */
pai__node pai__conv_only(const convert *c, pai__node n, int type);
/* The items of a sequence, the keys of a mapping; none when n is neither. */
pai__tree_walk pai__conv_walk(const convert *c, pai__node n);
size_t pai__conv_count(const convert *c, pai__node n);
/* The text of a string; else one without characters. */
text pai__conv_text(const convert *c, pai__node n);
/* A whole number, also as v1 takes it from a string. */
int64_t pai__conv_int(convert *c, pai__node n, int64_t missing);

bool pai__conv_same(text a, text b);
bool pai__conv_equals(text a, const char *b);

/* Keys of extras that v2 acts on, and v1 never did; NULL ends them. */
extern const char *const pai__conv_meanings[];

/* --- making ------------------------------------------------------------- */

void *pai__conv_alloc(convert *c, size_t n, size_t size);
/* Takes what a buffer holds; an empty text after a failure. */
text pai__conv_take(convert *c, pai__buf *b);
/* JavaScript's String(value). */
text pai__conv_string(convert *c, pai__node n);

/* --- names -------------------------------------------------------------- */

bool pai__conv_is_name(text s); /* ^[a-zA-Z_][a-zA-Z0-9_]*$ */
/* A name for the job that v2 allows. */
text pai__conv_job_name(convert *c, text name);
/* Replaces names by ones that v2 allows and that differ. */
void pai__conv_unique(convert *c, text *names, size_t n);

/* --- ports -------------------------------------------------------------- */

typedef struct conv_ports {
  text *labels;    /* unique, for v2 */
  int64_t *counts; /* those below 1 have no place in v2 */
  size_t n;
  bool all_said; /* v2's ports say all that the list says */
} conv_ports;

/* What v2 makes of a portList. */
conv_ports pai__conv_ports(convert *c, pai__node list);

/* --- retries ------------------------------------------------------------ */

/* jobRetryCount for a retryCount. */
int64_t pai__conv_retries(int64_t retry_count);

/* --- commands ----------------------------------------------------------- */

/* v1 ran commands without bash's options that v2 sets. */
#define PAI__CONV_OPTIONS_OFF "set +o errexit +o nounset +o pipefail"
#define PAI__CONV_OPTIONS_ON "set -o errexit -o nounset -o pipefail"

/* A folder of v1. */
typedef struct conv_dir {
  const char *field;    /* of v1 */
  const char *type;     /* of the prerequisite, and the role's field */
  const char *name;     /* of the prerequisite */
  const char *variable; /* that names the folder to the commands */
  const char *path;     /* of the template that gives its uri */
  bool list;            /* the uri is a list */
} conv_dir;

enum { PAI__CONV_DIRS = 3 };
extern const conv_dir pai__conv_dirs[PAI__CONV_DIRS];

/* The command that exports a folder's uri.  v1's variables in it stay, and
 * nothing else of it means anything to the shell: where that takes escapes the
 * uri itself stands there, not its template, and *literal becomes true. */
text pai__conv_export_dir(convert *c, const conv_dir *dir, text uri,
                          bool *literal);
/* export NAME='value' */
text pai__conv_export(convert *c, text name, text value);
/* The other way round; false when a command is not of this form. */
bool pai__conv_exported(convert *c, text command, text *name, text *value);

/* Writes "<%" as a template whose value it is: the parameter `open`. */
text pai__conv_hide_tags(convert *c, text s, text open);
/* The other way round; *left becomes true when there are other tags. */
text pai__conv_show_tags(convert *c, text s, pai__node parameters, bool *left);

#endif
