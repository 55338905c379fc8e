/**
 * @file openpai/spec.h
 * Job files: OpenPAI's job protocol v2, YAML or the same as JSON, and its job
 * config v1, JSON also with comments; which of the two is told by the content.
 *
 * All of the language is read, checked, rendered and converted.  What a field
 * would change in OpenPAI and does not change in a run by this version has one
 * line in pai_spec_note() (image, plugins, storages, ...); what changes no run
 * (description, version, ...) has none.
 *
 * A job may have up to 100,000 tasks in the file; the platform decides how
 * many it can start.
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
  uint32_t max_depth;     /**< of lists and mappings; 0: 64 */
  uint32_t max_roles;     /**< 0: 10,000 */
  uint32_t max_tasks;     /**< of all roles; 0: 100,000 */
  uint32_t max_aliases;   /**< times that aliases may repeat the text; 0: 10 */
  int version;            /**< 1, 2; 0: told by the content */
  int hived;              /**< 1: the cluster has HiveD: check what is its */
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
 * @param[out] err  NULL, or receives the error that says most, with line,
 *                  column, JSON pointer and, mostly, a help line
 * @return PAI_OK; PAI_EINVAL: not a valid job file; PAI_ENOTSUP: it needs
 *         what this version lacks; PAI_ELIMIT; PAI_ENOMEM
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
 * @param[out] out   what was found, owned by the caller; NULL on failure
 * @param[out] spec  NULL, or receives the spec of a valid file, else NULL
 * @param text       as pai_spec_parse()
 * @param len        its length in bytes
 * @param opts       options, or NULL for defaults; not kept
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK, whether the file is valid or not; PAI_EINVAL for a broken
 *         call; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_check(pai_report **out, pai_spec **spec,
                                         const char *text, size_t len,
                                         const pai_spec_options *opts,
                                         pai_error **err);

/* --- the spec ------------------------------------------------------------ */

/** One more owner.  @return @p spec  @since 0.1 */
PAI_API pai_spec *pai_spec_ref(pai_spec *spec);

/** One owner less; the last one frees it.  NULL is allowed.  @since 0.1 */
PAI_API void pai_spec_unref(pai_spec *spec);

/** The job's name.  Of a spec that is NULL this and what follows tell 0 or NULL.
 *  @since 0.1 */
PAI_API const char *pai_spec_name(const pai_spec *spec);

/** How often a failed job is tried again.  @since 0.1 */
PAI_API uint32_t pai_spec_retry_count(const pai_spec *spec);

/** Number of task roles; they keep the order of the file.  @since 0.1 */
PAI_API size_t pai_spec_role_count(const pai_spec *spec);

/** Number of tasks of all roles.  @since 0.1 */
PAI_API size_t pai_spec_task_count(const pai_spec *spec);

/** Name of role @p role, counted from 0; NULL beyond the last.  @since 0.1 */
PAI_API const char *pai_spec_role_name(const pai_spec *spec, size_t role);

/** Tasks of a role; 0 beyond the last role.  @since 0.1 */
PAI_API uint32_t pai_spec_role_instances(const pai_spec *spec, size_t role);

/** What each task of a role asks for; 0 beyond the last role.  @since 0.1 */
PAI_API uint32_t pai_spec_role_cpus(const pai_spec *spec, size_t role);
/** In MiB.  @since 0.1 */
PAI_API uint32_t pai_spec_role_memory_mb(const pai_spec *spec, size_t role);
/** @since 0.1 */
PAI_API uint32_t pai_spec_role_gpus(const pai_spec *spec, size_t role);

/** The role's commands, those of its deployment around them, joined by
 *  newlines, templates filled in but for secrets; NULL beyond the last role.  A
 *  command that is an alias of a secret is "******".  @since 0.1 */
PAI_API const char *pai_spec_role_script(const pai_spec *spec, size_t role);

/**
 * Writes the value of any place of a spec as JSON on one line; a job config v1
 * is protocol v2 here.  Secrets are "******".  <openpai/draft.h> says how places
 * are named.
 * @return PAI_OK; PAI_ENOTFOUND: there is no such place; PAI_EINVAL;
 *         PAI_ENOMEM; or what @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_get(const pai_spec *spec, const char *path,
                                       pai_write_cb write, void *user_data,
                                       pai_error **err);

/**
 * Writes what docker needs to pull the job's images, as its config.json:
 * {"auths":{REGISTRY:{"auth":BASE64}}}.  Holds secrets.
 * @return PAI_OK; PAI_EINVAL for a broken call; PAI_ENOMEM; or what @p write
 *         answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_docker_config(const pai_spec *spec,
                                                 pai_write_cb write,
                                                 void *user_data,
                                                 pai_error **err);

/** A name in the commands' templates that nothing stands for, as
 *  "$parameters.lr": name @p i, from 0, or NULL beyond the last.
 *  @since 0.1 */
PAI_API const char *pai_spec_unresolved(const pai_spec *spec, size_t i);

/** A secret that the job needs and the file lacks: the JSON pointer of its
 *  place, "/secrets/token", number @p i, from 0, or NULL beyond the last.
 *  @param[out] masked  1: "******" stands in its place; 0: there is nothing; NULL is
 *                      allowed
 *  @since 0.1 */
PAI_API const char *pai_spec_missing_secret(const pai_spec *spec, size_t i,
                                            int *masked);

/** What the file asks for and this version does not act on: note @p i, from
 *  0, or NULL beyond the last.  One for each field, however many task roles
 *  have it.  @since 0.1 */
PAI_API const char *pai_spec_note(const pai_spec *spec, size_t i);

/**
 * A copy without secrets: "******" in the place of each, so that it can be
 * shown to anybody.
 * @return PAI_OK; PAI_EINVAL for a broken call; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_masked(pai_spec **out, const pai_spec *spec,
                                          pai_error **err);

/* --- views --------------------------------------------------------------- */

/** A job as a whole, with defaults applied; strings are the spec's. */
typedef struct pai_job_view {
  size_t struct_size; /**< set by the caller, as of all views */
  const char *name;
  const char *contributor; /**< NULL when there is none, as of description */
  const char *description;
  uint32_t retry_count;
  const char *virtual_cluster; /**< "default" */
  const char *deployment;      /**< the one that is used, or NULL */
  int gang; /**< 0: tasks start and are tried again singly */
  size_t roles, tasks, prerequisites; /**< how many */
} pai_job_view;

/** A task role, with defaults applied. */
typedef struct pai_role_view {
  size_t struct_size;
  const char *name;
  uint32_t instances;
  int32_t min_failed;    /**< so many failed tasks fail the job; -1: never */
  int32_t min_succeeded; /**< so many succeeded ones end it; -1: never */
  uint32_t task_retry_count;
  uint32_t cpus, memory_mb, gpus; /**< of each task */
  uint32_t shm_mb;                /**< 512 */
  int infiniband;
  const char
    *image; /**< names of prerequisites; NULL for none of those below */
  const char *data;
  const char *output;
  const char *script_name;
  const char *script;   /**< as pai_spec_role_script() */
  size_t ports;         /**< how many labels: the file's, ssh and http */
  size_t prerequisites; /**< how many names: pai_spec_role_prerequisite() */
} pai_role_view;

/** A label of a role's ports. */
typedef struct pai_port_view {
  size_t struct_size;
  const char *label;
  uint32_t count; /**< of ports that each task gets */
} pai_port_view;

/** An image, script, output or set of data. */
typedef struct pai_prerequisite_view {
  size_t struct_size;
  const char *type;
  const char *name;
  const char *uri;    /**< the first, or NULL */
  size_t uris;        /**< how many: pai_spec_prerequisite_uri() */
  const char *plugin; /**< NULL when there is none */
  int has_auth;       /**< it needs an account: pai_spec_docker_config() */
} pai_prerequisite_view;

/** Fills a view.  @return PAI_OK; PAI_EINVAL: bad struct_size; PAI_ENOTFOUND:
 *  there are fewer  @since 0.1 */
PAI_API int pai_spec_view_job(const pai_spec *spec, pai_job_view *view);
/** Roles and their ports keep the order of the file.  @since 0.1 */
PAI_API int pai_spec_view_role(const pai_spec *spec, size_t role,
                               pai_role_view *view);
/** @since 0.1 */
PAI_API int pai_spec_view_port(const pai_spec *spec, size_t role, size_t port,
                               pai_port_view *view);
/** @since 0.1 */
PAI_API int pai_spec_view_prerequisite(const pai_spec *spec, size_t i,
                                       pai_prerequisite_view *view);

/** Name @p i of a role's list of prerequisites, or NULL.  @since 0.1 */
PAI_API const char *pai_spec_role_prerequisite(const pai_spec *spec,
                                               size_t role, size_t i);
/** Address @p i of a prerequisite, or NULL.  @since 0.1 */
PAI_API const char *pai_spec_prerequisite_uri(const pai_spec *spec,
                                              size_t prerequisite, size_t i);

/* --- writing --------------------------------------------------------------- */

/** Options of pai_spec_write(); or use PAI_SPEC_WRITE_OPTIONS_INIT. */
typedef struct pai_spec_write_options {
  size_t struct_size;
  int format;  /**< PAI_FORMAT_*; 0: YAML, or JSON for version 1 */
  int version; /**< 1: job config v1; 2 or 0: protocol v2 */
  int secrets; /**< 1: as they are; 0: "******" in their place */
  pai_report *
    *report; /**< NULL, or receives what JSON or version 1 cannot say,
                            NULL for YAML; owned by the caller */
} pai_spec_write_options;

#define PAI_SPEC_WRITE_OPTIONS_INIT            \
  {                                            \
    sizeof(pai_spec_write_options), 0, 0, 0, 0 \
  }

/**
 * Writes a spec: the same spec gives the same bytes, in the order of its file
 * and without its comments.  A spec that was read from job config v1 is
 * protocol v2 meanwhile, and so this converts.
 *
 * @param spec  the spec
 * @param opts  options, or NULL for defaults; not kept
 * @param write takes the text
 * @param user_data  handed to @p write
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL or PAI_ENOTSUP for bad options; PAI_ENOMEM; or
 *         what @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_write(const pai_spec *spec,
                                         const pai_spec_write_options *opts,
                                         pai_write_cb write, void *user_data,
                                         pai_error **err);

/* --- explaining ------------------------------------------------------------ */

/**
 * Says what a spec will do: its task roles with what each task gets, sums,
 * when the job is over, what has no value, and what this version does not act
 * on.  Nothing of it is secret.
 *
 * @param spec       the spec
 * @param format     PAI_FORMAT_TEXT or 0: for people, may change; or
 *                   PAI_FORMAT_JSON: one object
 * @param write      takes the text
 * @param user_data  handed to @p write
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL for another format; PAI_ENOMEM; or what @p write
 *         answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_explain(const pai_spec *spec, int format,
                                           pai_write_cb write, void *user_data,
                                           pai_error **err);

/* --- comparing ------------------------------------------------------------- */

/** How something differs. */
enum {
  PAI_CHANGE_ADDED = 1,
  PAI_CHANGE_REMOVED = 2,
  PAI_CHANGE_CHANGED = 3,
  PAI_CHANGE_MOVED = 4 /**< a task role, among the others */
};

/** One difference of two specs; its texts live as long as the callback. */
typedef struct pai_spec_change {
  size_t struct_size;
  int kind;              /**< PAI_CHANGE_* */
  const char *pointer;   /**< JSON pointer: into the first spec for what is
                              removed, else into the second */
  const char *old_value; /**< compact JSON, or NULL where nothing was; of a
                              moved role its place, from 0 */
  const char *new_value; /**< likewise */
} pai_spec_change;

/** Takes one difference.  A negative answer ends the call that compares, which
 *  returns it. */
typedef int (*pai_spec_diff_cb)(void *user_data,
                                const pai_spec_change *change);

/**
 * Tells what differs between two specs, by what they mean: what is written
 * out and what is left to its default are the same, as 2 and 2.0 and mappings
 * in another order.  Prerequisites and deployments are compared by their
 * names.  Of commands each line is compared; its pointer is that of the
 * command it is in.  Secrets, and what is no template in the account of a
 * registry, are shown as "******".
 *
 * @param a          the first spec
 * @param b          the second
 * @param cb         takes the differences
 * @param user_data  handed to @p cb
 * @param[out] err   NULL, or receives the error of a failure
 * @return how many differences there are; PAI_ENOMEM; PAI_ELIMIT: a value is
 *         nested too deep to be shown; or what @p cb answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_diff(const pai_spec *a, const pai_spec *b,
                                        pai_spec_diff_cb cb, void *user_data,
                                        pai_error **err);

/* --- places ------------------------------------------------------------------ */

typedef struct pai_spec_place pai_spec_place; /**< opaque;
                                                  pai_spec_place_free() */

/** A part of a text, from 1; columns count characters.  It ends before
 *  end_column.  Of what is not there all is 0. */
typedef struct pai_text_range {
  uint32_t line, column;
  uint32_t end_line, end_column;
} pai_text_range;

/** What a position of a text is on. */
enum {
  PAI_ON_SPACE = 0, /**< between keys and values, or in a comment */
  PAI_ON_KEY = 1,
  PAI_ON_VALUE = 2 /**< a text, a number, ...; no list and no mapping */
};

/** What may be typed at a position; bits. */
enum {
  PAI_MAY_KEY = 1,   /**< a key: of the mapping at the pointer, or in the place
                          of the key there, or of a mapping that becomes the
                          value there */
  PAI_MAY_VALUE = 2, /**< the value at the pointer */
  PAI_MAY_ITEM = 4   /**< an item of the list at the pointer, or of one that
                          becomes the value there; with PAI_MAY_KEY at a
                          mapping, at the end of the text: of the list that
                          is its last value */
};

/** Where something is in a job file, for editors; strings are the place's. */
typedef struct pai_place_view {
  size_t struct_size;
  const char *pointer;  /**< JSON pointer of the innermost key or value; "" for
                            the document.  In space: of the entry whose value
                            may be typed, or of what is around */
  int on;               /**< PAI_ON_*; of pai_spec_range(), PAI_ON_VALUE */
  unsigned may;         /**< of PAI_MAY_*; 0: nothing, or nobody can tell */
  pai_text_range key;   /**< of that pointer; of an item there is none */
  pai_text_range value; /**< without an anchor and a tag */
  int valid; /**< 1: all of the text was read; 0: it is no YAML or JSON, and
                  what stands before the position was looked at */
} pai_place_view;

/**
 * Finds what is at a position of a text: what an editor completes there, or
 * tells of what is there.  The end of a key or value is still on it.  Where there
 * is nothing, the columns of YAML or the brackets decide what may come.
 *
 * @param[out] out  the place, owned by the caller; NULL on failure
 * @param text      as pai_spec_parse(), and any other text: an editor asks while
 *                  somebody types
 * @param len       its length in bytes
 * @param line      from 1, as of diagnostics
 * @param column    from 1; one behind the last character of its line at most
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_ENOTFOUND: the text has no such position; PAI_ELIMIT: it is
 *         too long; PAI_EINVAL for a broken call; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_at(pai_spec_place **out, const char *text,
                                      size_t len, uint32_t line,
                                      uint32_t column,
                                      const pai_spec_options *opts,
                                      pai_error **err);

/**
 * Finds where the key and the value of a JSON pointer stand in a text.  What an
 * alias stands for has the alias as its value, and what is below it is where the
 * anchor's value is written, as what a merge key brings.
 *
 * @param[out] out  the place, owned by the caller; NULL on failure
 * @param text      as pai_spec_parse(); it need not be a valid job
 * @param len       its length in bytes
 * @param pointer   as of diagnostics; "" for the document
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_ENOTFOUND: there is nothing at the pointer; PAI_EINVAL: the
 *         text is no YAML or JSON; PAI_ELIMIT; PAI_ENOMEM
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
 * Writes the language of job files as JSON Schema, draft 7, for editors.  It
 * is made of the tables that pai_spec_check() goes by, and tells all but wrong
 * references, sums and templates.  The same version gives the same bytes.
 *
 * @param version    1: job config v1; 2: job protocol v2
 * @param write      takes the text
 * @param user_data  handed to @p write
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL for another version; PAI_ENOMEM; or what @p write
 *         answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_spec_schema(int version, pai_write_cb write,
                                          void *user_data, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_SPEC_H */
