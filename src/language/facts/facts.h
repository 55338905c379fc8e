/*
 * facts.h - internal to the room: what an editor shows about a job file
 *
 * Completion, hover texts, outline, references, folding, selection, semantic
 * tokens, links, lenses, hints and code actions.  All of it comes from the
 * tables of the room spec that the checker uses.
 *
 * Places are bytes of the text, from 0; an end is the byte after the last.
 * Texts may be unfinished or broken: a line that cannot be parsed costs only
 * the help for that line.
 *
 * All functions are pure: they keep nothing, and the same text gives the same
 * results.  Strings and spans that a callback receives are valid during the
 * call only.  A callback returns PAI_OK to continue; any other result ends the
 * calling function, which returns it.  Functions return PAI_OK, PAI_ENOMEM, or
 * the result of a callback, unless they say otherwise; a text longer than 4 MiB
 * or nested too deeply gives no results, and PAI_OK.
 */
#ifndef PAI_SRC_LANGUAGE_FACTS_FACTS_H
#define PAI_SRC_LANGUAGE_FACTS_FACTS_H

#include "base/buf.h"

/* Bytes [start, end) of the text. */
typedef struct pai__span {
  size_t start, end;
} pai__span;

/* The language of a text. */
enum pai__language_kind {
  PAI__LANGUAGE_OTHER,   /* none of ours: no function gives results */
  PAI__LANGUAGE_JOB,     /* job protocol v2, or job config v1 */
  PAI__LANGUAGE_CLUSTER, /* a cluster: nodes and virtual clusters */
  PAI__LANGUAGE_HIVED    /* a configuration of HiveD */
};

/* Decides by the content, then by the name of the file.  `path` may be NULL,
 * or a URI. */
enum pai__language_kind pai__language_detect(const char *path,
                                             const char *text, size_t len);

/* An open document.  All members are borrowed. */
typedef struct pai__language_text {
  const char *text; /* UTF-8; need not be valid, nor end with a NUL */
  size_t len;
  enum pai__language_kind kind;
  const pai_alloc *alloc;
} pai__language_text;

/* Names of the chosen cluster, each list ended by NULL; a list may be NULL. */
typedef struct pai__cluster_names {
  const char *const *virtual_clusters;
  const char *const *skus;
  const char *const *storages;
  const char *const *images;
} pai__cluster_names;

/* --- completion ----------------------------------------------------------- */

enum pai__completion_kind {
  PAI__COMPLETE_PROPERTY,  /* a key of a mapping */
  PAI__COMPLETE_ENUM,      /* one of the allowed words */
  PAI__COMPLETE_VALUE,     /* a default, a boolean, a name of the cluster */
  PAI__COMPLETE_VARIABLE,  /* a template name or an environment variable */
  PAI__COMPLETE_SNIPPET,   /* a piece of a file with places to fill in */
  PAI__COMPLETE_REFERENCE, /* a name that this file declares */
};

typedef struct pai__completion {
  enum pai__completion_kind kind;
  const char *label;         /* shown, and compared with what is typed */
  const char *insert;        /* the text that replaces `replaces`.  Its lines
                                after the first are indented from column 0 of
                                the file: insert it as it is */
  bool is_snippet;           /* `insert` has ${1:placeholders} and $0, as
                                language servers write them; $, } and \ in text
                                are escaped */
  const char *detail;        /* one line beside the label, or NULL */
  const char *documentation; /* Markdown, or NULL */
  pai__span replaces;        /* contains or touches `at`, on one line */
  const char *sort;          /* order of labels by strcmp() */
  bool deprecated;
  bool required; /* a field that the mapping must have and has not */
} pai__completion;

typedef int (*pai__completion_cb)(void *user_data, const pai__completion *c);

/* Lists all that may be inserted at byte `at`.  What is already typed there
 * does not filter the list; editors do that.  `names` may be NULL.  Returns
 * also PAI_EINVAL: `at` is beyond the text. */
int pai__complete(const pai__language_text *t, size_t at,
                  const pai__cluster_names *names, pai__completion_cb cb,
                  void *user_data, pai_error **err);

/* --- hover ---------------------------------------------------------------- */

/* Describes the key, value, template name or variable at a byte as Markdown:
 * meaning, type, default and effective value; the rendered command; the sums of
 * a role's resources.  *range is the described text.  Secrets are masked.
 * Returns PAI_ENOTFOUND if there is nothing to say; *markdown is unchanged
 * then. */
int pai__hover(const pai__language_text *t, size_t at, pai__span *range,
               pai__buf *markdown);

/* --- outline -------------------------------------------------------------- */

enum pai__outline_kind {
  PAI__OUTLINE_FIELD,
  PAI__OUTLINE_JOB,
  PAI__OUTLINE_ROLE,
  PAI__OUTLINE_PREREQUISITE,
  PAI__OUTLINE_PARAMETER,
  PAI__OUTLINE_SECRET,
  PAI__OUTLINE_DEPLOYMENT,
  PAI__OUTLINE_PORT,
  PAI__OUTLINE_SECTION /* a mapping or list of the above */
};

typedef struct pai__outline_item {
  const char *name;
  const char *detail; /* "4 tasks, 8 GPUs", or NULL */
  enum pai__outline_kind kind;
  pai__span whole; /* with key and value; contains `at` */
  pai__span at;    /* the name, for the cursor */
  unsigned depth;  /* 0: top level; at most 1 more than the item before it */
} pai__outline_item;

typedef int (*pai__outline_cb)(void *user_data, const pai__outline_item *item);

/* Lists the parts of a file, parents before their children. */
int pai__outline(const pai__language_text *t, pai__outline_cb cb,
                 void *user_data);

/* --- names: definition, references, highlight, rename ---------------------- */

typedef struct pai__reference {
  pai__span span;      /* the name alone, without quotes */
  bool is_declaration; /* at most one of the list */
  bool is_write;       /* as is_declaration: a place that sets the value */
} pai__reference;

typedef int (*pai__reference_cb)(void *user_data, const pai__reference *r);

/* Lists the declaration and all uses of the role, prerequisite, parameter,
 * secret, deployment or port label that is named at a byte, or in a cluster
 * file of the type of cell or SKU, node or pinned cell, in the order of the
 * text.  Nothing if there is no such name. */
int pai__references(const pai__language_text *t, size_t at,
                    pai__reference_cb cb, void *user_data);

/* Checks whether the name at a byte can be renamed, and with `new_name` (else
 * NULL) whether that is a valid, free name.  *name is the span of the name.
 * Returns PAI_OK; PAI_ENOTFOUND: no name is here; PAI_EINVAL: not a valid name;
 * PAI_EEXISTS: taken; each with *err.  A rename replaces all spans of
 * pai__references(). */
int pai__can_rename(const pai__language_text *t, size_t at,
                    const char *new_name, pai__span *name, pai_error **err);

/* --- structure ------------------------------------------------------------ */

enum pai__folding_kind { PAI__FOLDING_REGION, PAI__FOLDING_COMMENT };

/* Folds from the line of span.start to the line of span.end; always more than
 * one line. */
typedef int (*pai__folding_cb)(void *user_data, pai__span span,
                               enum pai__folding_kind kind);
int pai__folding(const pai__language_text *t, pai__folding_cb cb,
                 void *user_data);

/* Lists the spans around a byte, innermost first, each larger than the one
 * before it; the last is the whole text. */
typedef int (*pai__span_cb)(void *user_data, pai__span span);
int pai__selection(const pai__language_text *t, size_t at, pai__span_cb cb,
                   void *user_data);

/* --- semantic tokens ------------------------------------------------------ */

enum pai__token_type {
  PAI__TOKEN_MACRO,     /* <% and %> */
  PAI__TOKEN_NAMESPACE, /* $parameters, $secrets, $script, $output, $data */
  PAI__TOKEN_PARAMETER, /* the name after it */
  PAI__TOKEN_VARIABLE,  /* $PAI_JOB_NAME and its like in commands */
  PAI__TOKEN_CLASS,     /* names of task roles */
  PAI__TOKEN_TYPE       /* names of prerequisites, deployments, cell types */
};

/* Modifiers; bits. */
enum {
  PAI__TOKEN_DECLARATION = 1,
  PAI__TOKEN_READONLY = 2,  /* a variable that the platform sets */
  PAI__TOKEN_UNRESOLVED = 4 /* nothing has this name */
};

typedef int (*pai__token_cb)(void *user_data, pai__span span,
                             enum pai__token_type type, unsigned modifiers);

/* In the order of the text, without overlaps; each on one line. */
int pai__tokens(const pai__language_text *t, pai__token_cb cb,
                void *user_data);

/* --- links, lenses, hints -------------------------------------------------- */

/* `target` is a URI: of an http(s) location in the text. */
typedef int (*pai__link_cb)(void *user_data, pai__span span,
                            const char *target);
int pai__links(const pai__language_text *t, pai__link_cb cb, void *user_data);

enum pai__lens_command {
  PAI__LENS_SUBMIT,
  PAI__LENS_RUN_HERE,
  PAI__LENS_EXPLAIN
};

/* The span is the job's name, or the first line of a file without one. */
typedef int (*pai__lens_cb)(void *user_data, pai__span span, const char *title,
                            enum pai__lens_command command);
int pai__lenses(const pai__language_text *t, pai__lens_cb cb, void *user_data);

/* A text after byte `at`, at the end of a line: "8 GPUs, 64 CPUs in all" of a
 * role or a job, "4 nodes, 24 GPUs" of a SKU or a cluster. */
typedef int (*pai__hint_cb)(void *user_data, size_t at, const char *text);
int pai__hints(const pai__language_text *t, pai__hint_cb cb, void *user_data);

/* --- actions -------------------------------------------------------------- */

enum pai__language_action_kind {
  PAI__ACTION_QUICK,   /* changes a part */
  PAI__ACTION_REFACTOR /* changes the form, not the meaning */
};

/* Replaces a span by a text. */
typedef struct pai__language_edit {
  pai__span span;
  const char *text;
} pai__language_edit;

typedef struct pai__language_action {
  const char *title; /* one line, in the imperative */
  enum pai__language_action_kind kind;
  const pai__language_edit *edits; /* in the order of the text, without
                                      overlaps; at least one */
  size_t nedits;
} pai__language_action;

typedef int (*pai__language_action_cb)(void *user_data,
                                       const pai__language_action *action);

/* Lists the changes that are possible at a span, beyond the fixes of
 * diagnostics: move a literal secret into `secrets`, add a time limit, fill in
 * required fields, convert job config v1 to protocol v2. */
int pai__more_actions(const pai__language_text *t, pai__span span,
                      pai__language_action_cb cb, void *user_data);

#endif
