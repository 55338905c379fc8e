/* parts.h - internal to facts/: an open text, and helpers of its features */
#ifndef PAI_SRC_LANGUAGE_FACTS_PARTS_H
#define PAI_SRC_LANGUAGE_FACTS_PARTS_H

#include "base/arena.h"
#include "base/secrets.h"
#include "language/facts/facts.h"
#include "spec/edit/at.h"
#include "spec/rules.h"
#include "spec/scan/index.h"
#include "spec/template/template.h"
#include "spec/variables.h"

/* What a task role requests. */
typedef struct pai__facts_role {
  pai__node key;                               /* of v2; PAI__NO_NODE for v1 */
  pai__node node;                              /* its mapping */
  const char *name;                            /* or "" */
  size_t len;                                  /* of the name */
  pai__span at;                                /* its name in the text */
  uint64_t tasks, gpus, memory_mb, cpu_millis; /* of each task, but tasks */
} pai__facts_role;

/* A text while one question about it is answered. */
typedef struct pai__facts {
  const pai_alloc *alloc;
  const char *text; /* the text as it is, followed by a NUL */
  size_t len;
  pai__tree *tree; /* may lack lines that are wrong; without nodes if nothing
                      could be parsed */
  pai__tree *scan; /* the text as it is, without nodes; NULL: all was parsed */
  int version;     /* of a job file: 1, 2 or 0 */
  bool job;        /* it is a job file */
  const pai__spec_rule *rules;
  pai__index index;
  pai__secrets secrets;
  pai__facts_role *roles; /* in the order of the file */
  size_t nroles, role_cap;
  pai__arena arena; /* for strings that live as long as this */
} pai__facts;

/* Reads a text, with the cursor at byte `at`; SIZE_MAX: none.  Returns PAI_OK,
 * PAI_ENOMEM, or PAI_ELIMIT for a text of which no help is given.  Close it
 * also after a failure. */
int pai__facts_open(pai__facts *f, const pai__language_text *t, size_t at);
void pai__facts_close(pai__facts *f);
/* Ends a question: closes the text.  Turns PAI_ELIMIT into PAI_OK. */
int pai__facts_end(pai__facts *f, int rc);

/* Finds the place at a byte.  Dispose of its pointer in any case. */
int pai__facts_place(pai__spec_scan *out, const pai__facts *f, size_t at);
/* Returns the node of a pointer, or PAI__NO_NODE. */
pai__node pai__facts_node(const pai__facts *f, const char *pointer);
bool pai__facts_is_json(const pai__facts *f);
/* Returns the first and the last byte of a line. */
size_t pai__facts_line(const pai__facts *f, size_t at);
size_t pai__facts_eol(const pai__facts *f, size_t at);
/* Returns whether a span is on one line. */
bool pai__facts_one_line(const pai__facts *f, pai__span span);
/* Makes a string in the arena; NULL when out of memory. */
const char *pai__facts_format(pai__facts *f, const char *fmt, ...)
  PAI__PRINTF(2, 3);
/* Returns the span of a text's characters, without quotes; false if it is not
 * written as it is read. */
bool pai__facts_inner(const pai__facts *f, pai__node n, pai__span *span);

/* cluster_rules.c: sets the rules of a file of a cluster.  PAI_OK or
 * PAI_ENOMEM. */
int pai__facts_cluster_rules(pai__facts *f, enum pai__language_kind kind);

/* --- task roles (roles.c) -------------------------------------------------- */

/* Lists the task roles.  Returns PAI_OK or PAI_ENOMEM. */
int pai__facts_read_roles(pai__facts *f);
/* Returns the role of a mapping, or NULL. */
const pai__facts_role *pai__facts_role_by_node(const pai__facts *f,
                                               pai__node node);
/* Returns the role whose mapping or hooks a pointer leads through, or NULL. */
const pai__facts_role *pai__facts_role_of(const pai__facts *f,
                                          const char *pointer);
/* Calls for each port label of a role, and ssh and http. */
typedef int (*pai__facts_label_cb)(void *user_data, const char *label,
                                   size_t len);
int pai__facts_labels(const pai__facts *f, const pai__facts_role *role,
                      pai__facts_label_cb cb, void *user_data);
/* Appends "8 GPUs, 64 CPUs, 256 GiB". */
void pai__facts_put_sizes(pai__buf *out, uint64_t gpus, uint64_t cpu_millis,
                          uint64_t memory_mb);

/* --- names (names.c) -------------------------------------------------------- */

/* A name in the text. */
typedef struct pai__facts_name {
  enum pai__spec_names kind;
  const char *type; /* of a prerequisite; NULL: any */
  const char *name;
  size_t len;
  const char *role; /* of a port: its role, or NULL */
  size_t role_len;
  pai__span span;
  bool declares;
  bool in_text; /* in a template or a variable's name */
} pai__facts_name;

/* A text that may have templates, as written. */
typedef struct pai__facts_text {
  const pai__spec_rule *rule;
  pai__node node;
  pai__span span;
  const char *role; /* or NULL */
  size_t role_len;
} pai__facts_text;

typedef struct pai__facts_visitor {
  int (*on_name)(void *user_data, const pai__facts_name *name);
  int (*on_text)(void *user_data, const pai__facts_text *text); /* or NULL */
  void *user_data;
} pai__facts_visitor;

/* Calls for all names and texts of a file, nearly in the order of the text:
 * those in a text follow its on_text(). */
int pai__facts_names(const pai__facts *f, const pai__facts_visitor *visitor);
/* Returns what a name is of, as "task role". */
const char *pai__facts_kind_of(const pai__facts_name *name);
/* Returns whether two names mean the same thing. */
bool pai__facts_same_name(const pai__facts_name *a, const pai__facts_name *b);
/* Finds the name at a byte.  Returns PAI_OK, or PAI_ENOTFOUND. */
int pai__facts_name_at(const pai__facts *f, size_t at, pai__facts_name *out);
/* Returns whether the file declares a name. */
bool pai__facts_declared(const pai__facts *f, const pai__facts_name *name);

/* --- templates and variables (tags.c) --------------------------------------- */

/* A template tag in a text. */
typedef struct pai__facts_tag {
  pai__span whole; /* with <% and, if it is closed, %> */
  pai__span path;  /* without white space */
  bool closed;
} pai__facts_tag;

/* Finds the first tag that begins in a span; false: there is none. */
bool pai__facts_tag_next(const pai__facts *f, pai__span in,
                         pai__facts_tag *tag);
/* Splits a path: the root, and the first key below it, which may be empty. */
void pai__facts_tag_split(const pai__facts *f, const pai__facts_tag *tag,
                          pai__span *root, pai__span *key);

/* A variable in a text. */
typedef struct pai__facts_variable {
  pai__span span;
  const pai__platform_variable *is; /* NULL: the platform does not set it */
  pai__variable_parts parts;
} pai__facts_variable;

/* Finds the first word in a span that is a variable, or looks like one: it
 * begins with PAI_; false: there is none. */
bool pai__facts_variable_next(const pai__facts *f, pai__span in,
                              pai__facts_variable *variable);

/* variables.c: reads the file as the platform does; NULL: it has errors.
 * PAI_OK or PAI_ENOMEM. */
int pai__facts_spec(pai_spec **out, const pai__facts *f);
/* Appends the value of a variable, or where it differs by task "0, 1, 2, 3" of
 * the first tasks.  `role` is in its name, or is that of the task; NULL: none.
 * Returns the number of tasks; 0: the file does not say it, and nothing is
 * appended. */
uint32_t pai__facts_put_known(pai__buf *out, const pai_spec *spec,
                              const pai__platform_variable *v,
                              const char *role, size_t role_len);

/* The values of template names at a place: `count` scopes, of which the last
 * is that of secrets. */
enum { PAI__FACTS_SCOPES = 5 };
unsigned pai__facts_scopes(const pai__facts *f, enum pai__spec_templates kind,
                           const char *role, size_t role_len,
                           pai__template_scope *scopes);

/* Returns the value of a template's path, and false if it has none. */
bool pai__facts_value(const pai__facts *f, enum pai__spec_templates kind,
                      const char *role, size_t role_len, pai__span path,
                      pai__node *node);

/* --- descriptions (describe.c) ---------------------------------------------- */

/* Appends the meaning, type, limits and default of a field as Markdown. */
void pai__facts_describe(pai__buf *out, const pai__spec_ruled *ruled,
                         const char *name);
/* Appends a value on one line, with secrets masked, in a code span. */
void pai__facts_put_value(pai__buf *out, const pai__facts *f, pai__node n);
/* Appends the same as plain text, of which at most so many bytes. */
void pai__facts_put_plain(pai__buf *out, const pai__facts *f, pai__node n,
                          size_t most);

/* --- pieces of a file (piece.c) --------------------------------------------- */

enum pai__piece_form { PAI__PIECE_BLOCK, PAI__PIECE_FLOW, PAI__PIECE_JSON };

/* How to write a piece of a file by its rule: the fields that it needs, with
 * usual values. */
typedef struct pai__piece_maker {
  pai__buf *out;
  enum pai__piece_form form;
  bool snippet;   /* values are places to fill in */
  unsigned stops; /* number of such places so far */
  size_t indent;  /* column of the piece */
} pai__piece_maker;

/* Appends a value that follows a key, or with `item` a dash. */
void pai__piece_value(pai__piece_maker *m, const pai__spec_rule *rule,
                      const pai__spec_field *field, const char *shape,
                      bool item);
/* Appends a key and its value. */
void pai__piece_field(pai__piece_maker *m, const pai__spec_field *field);
/* Appends an entry whose key is free, such as a task role. */
void pai__piece_entry(pai__piece_maker *m, const pai__spec_rule *rule);
/* Appends the fields of a mapping, each on a line in a block. */
void pai__piece_mapping(pai__piece_maker *m, const pai__spec_rule *rule,
                        const char *shape);
/* Returns whether a value can only be a list or a mapping. */
bool pai__piece_is_collection(const pai__spec_rule *rule);
/* Returns whether a new mapping has the field. */
bool pai__piece_wants(const pai__spec_field *field);
/* Appends a text as a value, with quotes where it needs them. */
void pai__piece_text(pai__buf *out, enum pai__piece_form form, const char *s,
                     size_t len);

#endif
