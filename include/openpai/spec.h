/**
 * @file openpai/spec.h
 * Job files: OpenPAI's job protocol v2, as YAML or JSON, and its job config
 * v1, as JSON with or without comments.  The format is detected from the
 * content.
 *
 * The whole language is read, checked, rendered and converted.
 * pai_spec_note() lists the fields that affect a run in OpenPAI but not in
 * this version (image, plugins, storages, ...); fields that affect no run
 * (description, version, ...) are not listed.
 *
 * A file may declare up to 100,000 tasks; the platform decides how many it can
 * start.
 *
 * Threads: IMMUTABLE.  A pai_spec may be shared freely.
 */
#ifndef OPENPAI_SPEC_H
#define OPENPAI_SPEC_H

#include <openpai/report.h>

PAI_BEGIN_DECLS

typedef struct pai_spec pai_spec; /**< opaque; pai_spec_unref() */

/** Options of pai_spec_parse(); zero-fill, or use PAI_SPEC_OPTIONS_INIT. */
typedef struct pai_spec_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
  size_t max_bytes;       /**< longest text; 0: 4 MiB */
  uint32_t max_depth;     /**< nesting of lists and mappings; 0: 64 */
  uint32_t max_roles;     /**< 0: 10,000 */
  uint32_t max_tasks;     /**< of all roles; 0: 100,000 */
  uint32_t max_aliases;   /**< most expansion by aliases, as a multiple of the
                               text; 0: 10 */
  int version;            /**< 1 or 2; 0: decided by the content */
  int hived;              /**< 1: the cluster has HiveD: check its fields */
} pai_spec_options;

#define PAI_SPEC_OPTIONS_INIT                        \
  {                                                  \
    sizeof(pai_spec_options), 0, 0, 0, 0, 0, 0, 0, 0 \
  }

/**
 * Reads a job file.
 *
 * @param[out] out  the spec, owned by the caller; NULL on failure
 * @param text      UTF-8, YAML or JSON; not kept
 * @param len       its length in bytes
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the most significant error, with line,
 *                  column, JSON pointer and usually a help line
 * @return PAI_OK; PAI_EINVAL: not a valid job file; PAI_ENOTSUP: the file
 *         needs a feature that this version lacks; PAI_ELIMIT; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_parse(pai_spec **out, const char *text,
                                         size_t len,
                                         const pai_spec_options *opts,
                                         pai_error **err);

/**
 * Reads the job file at @p path, or standard input for "-".
 * @return as pai_spec_parse(); PAI_ENOTFOUND, PAI_EPERM or PAI_EIO when the
 *         file cannot be read
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_load(pai_spec **out, const char *path,
                                        const pai_spec_options *opts,
                                        pai_error **err);

/* --- checking ------------------------------------------------------------ */

/**
 * Finds the problems of a job file, in the order of the file; see
 * <openpai/report.h>.
 *
 * @param[out] out   the report, owned by the caller; NULL on failure
 * @param[out] spec  NULL, or receives the spec of a valid file, else NULL
 * @param text       as pai_spec_parse()
 * @param len        its length in bytes
 * @param opts       options, or NULL for defaults; not kept
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK, whether the file is valid or not; PAI_EINVAL: invalid
 *         arguments; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_check(pai_report **out, pai_spec **spec,
                                         const char *text, size_t len,
                                         const pai_spec_options *opts,
                                         pai_error **err);

/* --- the spec ------------------------------------------------------------ */

/** Adds a reference.  @return @p spec  @since 0.1 */
PAI_API pai_spec *pai_spec_ref(pai_spec *spec);

/** Drops a reference; the last one frees the spec.  NULL is allowed.
 *  @since 0.1 */
PAI_API void pai_spec_unref(pai_spec *spec);

/** The job's name.  This getter and those below return 0 or NULL for a spec
 *  that is NULL.  @since 0.1 */
PAI_API const char *pai_spec_name(const pai_spec *spec);

/** Number of retries of a failed job.  @since 0.1 */
PAI_API uint32_t pai_spec_retry_count(const pai_spec *spec);

/** Number of task roles; roles are in the order of the file.  @since 0.1 */
PAI_API size_t pai_spec_role_count(const pai_spec *spec);

/** Number of tasks of all roles.  @since 0.1 */
PAI_API size_t pai_spec_task_count(const pai_spec *spec);

/** Name of task role @p role, counted from 0; NULL beyond the last.
 *  @since 0.1 */
PAI_API const char *pai_spec_role_name(const pai_spec *spec, size_t role);

/** Number of tasks of a role; 0 beyond the last role.  @since 0.1 */
PAI_API uint32_t pai_spec_role_instances(const pai_spec *spec, size_t role);

/** CPUs of each task of a role; 0 beyond the last role.  A fraction is rounded
 *  up: 1 for 0.5, 2 for 1.5.  @since 0.1 */
PAI_API uint32_t pai_spec_role_cpus(const pai_spec *spec, size_t role);
/** CPUs of each task of a role in thousandths: 500 for 0.5, 2000 for 2.
 *  @since 0.1 */
PAI_API uint64_t pai_spec_role_milli_cpus(const pai_spec *spec, size_t role);
/** Memory of each task of a role, in MiB.  @since 0.1 */
PAI_API uint32_t pai_spec_role_memory_mb(const pai_spec *spec, size_t role);
/** @since 0.1 */
PAI_API uint32_t pai_spec_role_gpus(const pai_spec *spec, size_t role);

/** The commands of a role between the pre- and post-commands of its
 *  deployment, joined by newlines; NULL beyond the last role.  Templates are
 *  filled in except for secrets.  A command that is a YAML alias of a secret
 *  is "******".  @since 0.1 */
PAI_API const char *pai_spec_role_script(const pai_spec *spec, size_t role);

/**
 * Writes the value at a path of a spec as JSON on one line.  A job config v1
 * has been converted to protocol v2.  Secrets are "******".  <openpai/draft.h>
 * describes the paths.
 * @return PAI_OK; PAI_ENOTFOUND: nothing at this path; PAI_EINVAL; PAI_ENOMEM;
 *         or the return value of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_get(const pai_spec *spec, const char *path,
                                       pai_write_cb write, void *user_data,
                                       pai_error **err);

/**
 * Writes the credentials for pulling the job's images, in the form of docker's
 * config.json: {"auths":{REGISTRY:{"auth":BASE64}}}.  The text contains
 * secrets.
 * @return PAI_OK; PAI_EINVAL: invalid arguments; PAI_ENOMEM; or the return
 *         value of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_docker_config(const pai_spec *spec,
                                                 pai_write_cb write,
                                                 void *user_data,
                                                 pai_error **err);

/** Undefined name @p i in the templates of the commands, such as
 *  "$parameters.lr", from 0; NULL beyond the last.  @since 0.1 */
PAI_API const char *pai_spec_unresolved(const pai_spec *spec, size_t i);

/** JSON pointer of missing secret @p i, such as "/secrets/token", from 0; NULL
 *  beyond the last.  A secret is missing when the job needs it and the file
 *  has no value.
 *  @param[out] masked  1: the file has "******" as its value; 0: the file has
 *                      no value; NULL is allowed  @since 0.1 */
PAI_API const char *pai_spec_missing_secret(const pai_spec *spec, size_t i,
                                            int *masked);

/** Note @p i, from 0, about a field that this version does not act on; NULL
 *  beyond the last.  There is one note for each field, however many task roles
 *  have it.  @since 0.1 */
PAI_API const char *pai_spec_note(const pai_spec *spec, size_t i);

/**
 * Makes a copy in which each secret is "******", so that all users may see it.
 * @return PAI_OK; PAI_EINVAL: invalid arguments; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_masked(pai_spec **out, const pai_spec *spec,
                                          pai_error **err);

/* --- views --------------------------------------------------------------- */

/** A job, with defaults applied; strings belong to the spec. */
typedef struct pai_job_view {
  size_t struct_size; /**< set by the caller, as in all views */
  const char *name;
  const char *contributor; /**< NULL when there is none, as for description */
  const char *description;
  uint32_t retry_count;
  const char *virtual_cluster; /**< "default" */
  const char *deployment;      /**< name of the selected deployment, or NULL */
  int gang; /**< 0: a partial job: tasks start and are retried alone */
  size_t roles, tasks, prerequisites; /**< numbers */
} pai_job_view;

/** A task role, with defaults applied. */
typedef struct pai_role_view {
  size_t struct_size;
  const char *name;
  uint32_t instances;
  int32_t min_failed;    /**< number of failed tasks that fails the job; -1:
                              never */
  int32_t min_succeeded; /**< number of succeeded tasks that ends the job; -1:
                              never */
  uint32_t task_retry_count;
  uint32_t cpus, memory_mb, gpus; /**< of each task; CPUs are rounded up */
  uint32_t shm_mb;                /**< 512 */
  int infiniband;
  const char *image; /**< image, data, output and script_name are names of
                          prerequisites, or NULL */
  const char *data;
  const char *output;
  const char *script_name;
  const char *script;   /**< as pai_spec_role_script() */
  size_t ports;         /**< number of labels: those of the file, ssh and
                             http */
  size_t prerequisites; /**< number of names: pai_spec_role_prerequisite() */
  uint64_t milli_cpus;  /**< CPUs of each task, in thousandths  @since 0.1 */
} pai_role_view;

/** A port label of a role. */
typedef struct pai_port_view {
  size_t struct_size;
  const char *label;
  uint32_t count; /**< number of ports of each task */
} pai_port_view;

/** A prerequisite: an image, a script, an output or data. */
typedef struct pai_prerequisite_view {
  size_t struct_size;
  const char *type;
  const char *name;
  const char *uri;    /**< first URI, or NULL */
  size_t uris;        /**< number of URIs: pai_spec_prerequisite_uri() */
  const char *plugin; /**< NULL when there is none */
  int has_auth;       /**< 1: it has credentials: pai_spec_docker_config() */
} pai_prerequisite_view;

/** Fills a view.  @return PAI_OK; PAI_EINVAL: bad struct_size; PAI_ENOTFOUND:
 *  no such entry  @since 0.1 */
PAI_API int pai_spec_view_job(const pai_spec *spec, pai_job_view *view);
/** Task roles and their ports are in the order of the file.  @since 0.1 */
PAI_API int pai_spec_view_role(const pai_spec *spec, size_t role,
                               pai_role_view *view);
/** @since 0.1 */
PAI_API int pai_spec_view_port(const pai_spec *spec, size_t role, size_t port,
                               pai_port_view *view);
/** @since 0.1 */
PAI_API int pai_spec_view_prerequisite(const pai_spec *spec, size_t i,
                                       pai_prerequisite_view *view);

/** Name @p i of the prerequisites of a role, or NULL.  @since 0.1 */
PAI_API const char *pai_spec_role_prerequisite(const pai_spec *spec,
                                               size_t role, size_t i);
/** URI @p i of a prerequisite, or NULL.  @since 0.1 */
PAI_API const char *pai_spec_prerequisite_uri(const pai_spec *spec,
                                              size_t prerequisite, size_t i);

/* --- writing --------------------------------------------------------------- */

/** Options of pai_spec_write(); zero-fill, or use
 *  PAI_SPEC_WRITE_OPTIONS_INIT. */
typedef struct pai_spec_write_options {
  size_t struct_size;
  int format;          /**< PAI_FORMAT_YAML or 0, or PAI_FORMAT_JSON */
  int secrets;         /**< 1: write secrets; 0: write "******" instead */
  pai_report **report; /**< NULL, or receives a report of values that JSON
                            cannot express, or NULL for YAML; owned by the
                            caller */
} pai_spec_write_options;

#define PAI_SPEC_WRITE_OPTIONS_INIT         \
  {                                         \
    sizeof(pai_spec_write_options), 0, 0, 0 \
  }

/**
 * Writes a spec as job protocol v2, in the order of its file and without its
 * comments.  The same spec always gives the same bytes.  A spec that was read
 * from job config v1 is thereby converted.
 *
 * @param spec  the spec
 * @param opts  options, or NULL for defaults; not kept
 * @param write receives the text
 * @param user_data  passed to @p write
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL or PAI_ENOTSUP: bad options; PAI_ENOMEM; or the
 *         return value of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_write(const pai_spec *spec,
                                         const pai_spec_write_options *opts,
                                         pai_write_cb write, void *user_data,
                                         pai_error **err);

/* --- explaining ------------------------------------------------------------ */

/**
 * Describes what a job will do: its task roles with the resources of each
 * task, sums, the completion policy, undefined names and missing secrets, and
 * the notes of pai_spec_note().  The output contains no secrets.
 *
 * @param spec       the spec
 * @param format     PAI_FORMAT_TEXT or 0: for people, may change between
 *                   versions; or PAI_FORMAT_JSON: one object
 * @param write      receives the text
 * @param user_data  passed to @p write
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: another format; PAI_ENOMEM; or the return value
 *         of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_explain(const pai_spec *spec, int format,
                                           pai_write_cb write, void *user_data,
                                           pai_error **err);

/* --- comparing ------------------------------------------------------------- */

/** Kinds of a difference. */
enum {
  PAI_CHANGE_ADDED = 1,
  PAI_CHANGE_REMOVED = 2,
  PAI_CHANGE_CHANGED = 3,
  PAI_CHANGE_MOVED = 4 /**< a task role has another position */
};

/** A difference between two specs; its texts are valid during the callback. */
typedef struct pai_spec_change {
  size_t struct_size;
  int kind;              /**< PAI_CHANGE_* */
  const char *pointer;   /**< JSON pointer: into the first spec if the value
                              was removed, else into the second */
  const char *old_value; /**< compact JSON, or NULL if there was no value; for
                              a moved role its position, from 0 */
  const char *new_value; /**< as old_value, in the second spec */
} pai_spec_change;

/** Receives a difference.  A negative return value aborts pai_spec_diff(),
 *  which returns that value. */
typedef int (*pai_spec_diff_cb)(void *user_data,
                                const pai_spec_change *change);

/**
 * Reports the differences in meaning between two specs.  A default value
 * equals the same value written out, 2 equals 2.0, and the order of mappings
 * does not count.  Prerequisites and deployments are matched by name.
 * Commands are compared line by line, with the pointer of the command.
 * Secrets, and values in registry credentials that are not templates, are
 * shown as "******".
 *
 * @param a          the first spec
 * @param b          the second
 * @param cb         receives the differences
 * @param user_data  passed to @p cb
 * @param[out] err   NULL, or receives the error of a failure
 * @return the number of differences; PAI_ENOMEM; PAI_ELIMIT: a value is nested
 *         too deeply to be shown; or the return value of @p cb
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_diff(const pai_spec *a, const pai_spec *b,
                                        pai_spec_diff_cb cb, void *user_data,
                                        pai_error **err);

/* --- places ------------------------------------------------------------------ */

typedef struct pai_spec_place pai_spec_place; /**< opaque;
                                                   pai_spec_place_free() */

/** A range of a text, up to but not including end_column.  Lines and columns
 *  count from 1, columns in characters.  All members are 0 when there is no
 *  such range. */
typedef struct pai_text_range {
  uint32_t line, column;
  uint32_t end_line, end_column;
} pai_text_range;

/** Kind of text at a position. */
enum {
  PAI_ON_SPACE = 0, /**< between keys and values, or in a comment */
  PAI_ON_KEY = 1,
  PAI_ON_VALUE = 2 /**< a scalar; not a list or a mapping */
};

/** Kinds of text that may be inserted at a position; bits. */
enum {
  PAI_MAY_KEY = 1,   /**< a key: of the mapping at the pointer, replacing the
                          key there, or of a new mapping that becomes the value
                          there */
  PAI_MAY_VALUE = 2, /**< the value at the pointer */
  PAI_MAY_ITEM = 4   /**< an item of the list at the pointer, or of a new list
                          that becomes the value there; together with
                          PAI_MAY_KEY at a mapping at the end of the text: an
                          item of the list that is the last value of that
                          mapping */
};

/** A place in a job file, for editors; strings belong to the
 *  pai_spec_place. */
typedef struct pai_place_view {
  size_t struct_size;
  const char *pointer;  /**< JSON pointer of the innermost key or value; "" for
                             the document.  In space: of the entry whose value
                             may be inserted, or of the surrounding value */
  int on;               /**< PAI_ON_*; PAI_ON_VALUE from pai_spec_range() */
  unsigned may;         /**< bits of PAI_MAY_*; 0: nothing, or not known */
  pai_text_range key;   /**< the key at `pointer`; list items have none */
  pai_text_range value; /**< the value without its anchor and tag */
  int valid; /**< 1: the whole text could be parsed; 0: it is not valid YAML or
                  JSON, and only the text before the position was used */
} pai_place_view;

/**
 * Finds the key or value at a position of a text, for completion and hover
 * texts of editors.  The position just after a key or value still belongs to
 * it.  In space, the indentation of YAML or the brackets of JSON decide what
 * may be inserted.
 *
 * @param[out] out  the place, owned by the caller; NULL on failure
 * @param text      as pai_spec_parse(), but need not be valid
 * @param len       its length in bytes
 * @param line      from 1, as in diagnostics
 * @param column    from 1 to one after the last character of the line
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_ENOTFOUND: the text has no such position; PAI_ELIMIT: it
 *         is too long; PAI_EINVAL: invalid arguments; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_at(pai_spec_place **out, const char *text,
                                      size_t len, uint32_t line,
                                      uint32_t column,
                                      const pai_spec_options *opts,
                                      pai_error **err);

/**
 * Finds the key and the value of a JSON pointer in a text.  If the value is an
 * alias, the range is that of the alias; values below an alias or a merge key
 * are found where the anchor defines them.
 *
 * @param[out] out  the place, owned by the caller; NULL on failure
 * @param text      as pai_spec_parse(), but need not be a valid job
 * @param len       its length in bytes
 * @param pointer   as in diagnostics; "" for the document
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_ENOTFOUND: nothing at the pointer; PAI_EINVAL: the text
 *         is not valid YAML or JSON; PAI_ELIMIT; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_range(pai_spec_place **out,
                                         const char *text, size_t len,
                                         const char *pointer,
                                         const pai_spec_options *opts,
                                         pai_error **err);

/** Fills a view.  @return PAI_OK; PAI_EINVAL: bad struct_size  @since 0.1 */
PAI_API int pai_spec_view_place(const pai_spec_place *place,
                                pai_place_view *view);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_spec_place_free(pai_spec_place *place);

/* --- JSON Schema ---------------------------------------------------------- */

/**
 * Writes a JSON Schema (draft 7) of job files, for editors.  It is generated
 * from the tables of pai_spec_check(), and covers all rules except the rules
 * about references, sums and templates.  The same version always gives the
 * same bytes.
 *
 * @param version    1: job config v1; 2: job protocol v2
 * @param write      receives the text
 * @param user_data  passed to @p write
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: another version; PAI_ENOMEM; or the return value
 *         of @p write
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_schema(int version, pai_write_cb write,
                                          void *user_data, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_SPEC_H */
