/**
 * @file openpai/spec.h
 * Job files: OpenPAI's job protocol v2, YAML or the same as JSON.
 *
 * This version reads what a job on one machine needs: name, jobRetryCount,
 * and of each task role instances, completion, resourcePerInstance, shmMB and
 * commands.  What would change the commands (templates, deployments) is
 * refused with PAI_ENOTSUP.  Every other field that changes a run in OpenPAI
 * and does not change it here has one line in pai_spec_note() (image, plugins,
 * storages, ...); what changes no run (description, version, ...) has none.
 *
 * A job may have up to 100,000 tasks in the file; the platform decides how
 * many it can start.
 *
 * Threads: IMMUTABLE.  A pai_spec may be shared freely.
 */
#ifndef OPENPAI_SPEC_H
#define OPENPAI_SPEC_H

#include <openpai/base.h>

PAI_BEGIN_DECLS

typedef struct pai_spec pai_spec; /**< opaque; pai_spec_unref() */

/** Options of pai_spec_parse(); zero-fill, or use PAI_SPEC_OPTIONS_INIT. */
typedef struct pai_spec_options {
  size_t struct_size;
  const pai_alloc *alloc; /**< NULL: malloc; copied */
  size_t max_bytes;       /**< longest text; 0: 4 MiB */
} pai_spec_options;

#define PAI_SPEC_OPTIONS_INIT      \
  {                                \
    sizeof(pai_spec_options), 0, 0 \
  }

/**
 * Reads a job file.
 *
 * @param[out] out  the spec, owned by the caller; NULL on failure
 * @param text      UTF-8, YAML or JSON; not kept
 * @param len       its length in bytes
 * @param opts      options, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the first error, with line, column,
 *                  JSON pointer and, mostly, a help line
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

/** One more owner.  @return @p spec  @since 0.1 */
PAI_API pai_spec *pai_spec_ref(pai_spec *spec);

/** One owner less; the last one frees it.  NULL is allowed.  @since 0.1 */
PAI_API void pai_spec_unref(pai_spec *spec);

/** The job's name.  @since 0.1 */
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

/** The role's commands joined by newlines; NULL beyond the last role.
 *  @since 0.1 */
PAI_API const char *pai_spec_role_script(const pai_spec *spec, size_t role);

/** What the file asks for and this version does not act on: note @p i, from
 *  0, or NULL beyond the last.  One for each field, however many task roles
 *  have it.  @since 0.1 */
PAI_API const char *pai_spec_note(const pai_spec *spec, size_t i);

PAI_END_DECLS

#endif /* OPENPAI_SPEC_H */
