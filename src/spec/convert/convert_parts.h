/* convert_parts.h - internal to the conversion of v1: its state and parts */
#ifndef PAI_SRC_SPEC_CONVERT_CONVERT_PARTS_H
#define PAI_SRC_SPEC_CONVERT_CONVERT_PARTS_H

#include "spec/convert/convert.h"
#include "yaml/writer.h"

typedef struct pai__conv_str {
  const char *s; /* followed by a NUL */
  size_t len;
} pai__conv_str;

/* State of a conversion.  After the first failure every call does nothing and
 * returns an empty value. */
typedef struct pai__conv {
  pai__findings *found; /* receives warnings */
  const pai__tree *tree;
  const pai_alloc *alloc;
  pai__arena arena; /* owner of all texts made here */
  pai__yaml_writer w;
  int rc;
  pai__node roles, envs, extras;
  size_t nroles;
  pai__conv_str *names; /* of the roles, as v2 names */
  pai__conv_str open;   /* name of the parameter whose value is "<%" */
  bool hides;           /* that parameter is in use */
  /* The mappings below extras that are open.  Each is opened when its first
   * entry is written. */
  bool in_extras, in_kept, in_roles, in_role;
} pai__conv;

/* --- reading (convert_read.c) ------------------------------------------- */

/* Returns n if it has the type, else PAI__NO_NODE. */
pai__node pai__conv_only(const pai__conv *c, pai__node n, int type);
/* Returns the text of a string; an empty text for other nodes. */
pai__conv_str pai__conv_text(const pai__conv *c, pai__node n);
/* Returns a whole number; also one in a string, as v1 accepts it. */
int64_t pai__conv_int(pai__conv *c, pai__node n, int64_t missing);
/* Returns JavaScript's String(value). */
pai__conv_str pai__conv_string(pai__conv *c, pai__node n);

bool pai__conv_same(pai__conv_str a, pai__conv_str b);

void *pai__conv_alloc(pai__conv *c, size_t n, size_t size);
/* Moves a buffer's content to the arena.  Returns an empty text after a
 * failure. */
pai__conv_str pai__conv_take(pai__conv *c, pai__buf *b);

/* --- names and ports (convert_read.c) ----------------------------------- */

bool pai__conv_is_name(pai__conv_str s); /* ^[a-zA-Z_][a-zA-Z0-9_]*$ */
/* Makes a valid v2 job name. */
pai__conv_str pai__conv_job_name(pai__conv *c, pai__conv_str name);
/* Replaces names by unique ones that v2 allows. */
void pai__conv_unique(pai__conv *c, pai__conv_str *names, size_t n);

typedef struct pai__conv_port_list {
  pai__conv_str *labels; /* unique, as v2 names */
  int64_t *counts;       /* counts below 1 have no place in v2 */
  size_t n;
  bool all_said; /* v2's ports express the whole list */
} pai__conv_port_list;

/* Converts a portList. */
pai__conv_port_list pai__conv_ports(pai__conv *c, pai__node list);

/* Converts a retryCount to a jobRetryCount. */
static inline int64_t pai__conv_retries(int64_t retry_count)
{
  return retry_count >= 0 ? retry_count : INT32_MAX;
}

/* --- writing ------------------------------------------------------------ */

static inline void pai__conv_key(pai__conv *c, const char *key)
{
  pai__yaml_key(&c->w, key, strlen(key));
}

static inline void pai__conv_put_int(pai__conv *c, const char *key,
                                     int64_t value)
{
  pai__conv_key(c, key);
  pai__yaml_int(&c->w, value);
}

static inline void pai__conv_put_text(pai__conv *c, const char *key,
                                      pai__conv_str value)
{
  pai__conv_key(c, key);
  pai__yaml_text(&c->w, value.s, value.len);
}

static inline void pai__conv_put_string(pai__conv *c, const char *key,
                                        const char *value)
{
  pai__conv_put_text(c, key, (pai__conv_str){ value, strlen(value) });
}

/* --- folders and variables (convert_exports.c) -------------------------- */

/* A folder that v1 passes to commands. */
typedef struct pai__conv_dir {
  const char *field;    /* its v1 field */
  const char *type;     /* type of its prerequisite, and the role's field */
  const char *name;     /* name of its prerequisite */
  const char *variable; /* variable that holds its uri */
  const char *path;     /* name in the template for its uri */
  bool list;            /* its uri is a list */
} pai__conv_dir;

enum { PAI__CONV_DIRS = 3 };
extern const pai__conv_dir pai__conv_dirs[PAI__CONV_DIRS];

/* Returns the job's folder, or an empty text. */
pai__conv_str pai__conv_folder(const pai__conv *c, size_t dir);
/* Chooses the name of the parameter whose value is "<%". */
void pai__conv_name_open(pai__conv *c);
/* Escapes "<%" in a command, so that v2 takes it literally. */
pai__conv_str pai__conv_literally(pai__conv *c, pai__conv_str command);
/* Returns whether a shell can export this entry of jobEnvs. */
bool pai__conv_exports(pai__conv *c, pai__node key);
/* Writes deployments: the commands that run before those of each role. */
void pai__conv_put_deployments(pai__conv *c);
/* Writes parameters: the variables, and the one for "<%". */
void pai__conv_put_parameters(pai__conv *c);

/* --- fields that v2 lacks (convert_keep.c) ------------------------------ */

/* Writes a key and its value unchanged. */
void pai__conv_put_entry(pai__conv *c, pai__node key);
/* Writes extras: the job's own, and the fields that v2 lacks; warns about the
 * latter. */
void pai__conv_keep(pai__conv *c);

#endif
