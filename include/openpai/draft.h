/**
 * @file openpai/draft.h
 * Job files under change: a text of which single places are set, and all else
 * stays as it was written, comments and quotes included.  Also the way to make
 * a job file from nothing.
 *
 * A draft need not be a valid job file meanwhile; pai_spec_check() says what
 * is missing.
 *
 * Places are named by paths:
 *
 *   taskRoles.worker.instances    keys
 *   prerequisites[0].uri          an item; [-1] is the last
 *   taskRoles.worker.commands[+]  a new last item
 *   parameters."a.b"              a key in quotes
 *   /taskRoles/worker             a JSON pointer; - is a new last item
 *
 * Threads: SERIAL.
 */
#ifndef OPENPAI_DRAFT_H
#define OPENPAI_DRAFT_H

#include <openpai/spec.h>

PAI_BEGIN_DECLS

typedef struct pai_draft pai_draft; /**< opaque; pai_draft_free() */

/**
 * Begins with a text, which must be YAML or JSON, if not a job file.
 *
 * @param[out] out  the draft, owned by the caller; NULL on failure
 * @param text      UTF-8; NULL: begin with nothing; not kept
 * @param len       its length in bytes
 * @param opts      limits, or NULL for defaults; not kept
 * @param[out] err  NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL, PAI_ELIMIT, PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_draft_new(pai_draft **out, const char *text,
                                        size_t len,
                                        const pai_spec_options *opts,
                                        pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_draft_free(pai_draft *draft);

/** The text as it is now, until the next change; @p len may be NULL.
 *  @since 0.1 */
PAI_API const char *pai_draft_text(const pai_draft *draft, size_t *len);

/**
 * Sets a place to a value.  A missing key is added at the end of its mapping,
 * with the mappings above it that are missing.
 *
 * @param draft  unchanged after a failure
 * @param path   the place
 * @param value  YAML or JSON: 4, "text", [a, b]
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: no such place can be, or the value cannot be
 *         read; PAI_ENOTFOUND: there is no such item; PAI_ENOTSUP: it would
 *         change another place, by an alias or merge key; PAI_ELIMIT;
 *         PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_draft_set(pai_draft *draft, const char *path,
                                        const char *value, pai_error **err);

/** The same for a text that stays a text, whatever it looks like.
 *  @return as pai_draft_set()  @since 0.1 */
PAI_API PAI_NODISCARD int pai_draft_set_text(pai_draft *draft,
                                             const char *path,
                                             const char *text, size_t len,
                                             pai_error **err);

/** Takes a place out.  @return as pai_draft_set(); PAI_ENOTFOUND when there is
 *  nothing.  @since 0.1 */
PAI_API PAI_NODISCARD int pai_draft_unset(pai_draft *draft, const char *path,
                                          pai_error **err);

/**
 * Brings the text into its canonical layout: YAML in block style, two spaces a
 * level, JSON in lines; comments, the order of keys, anchors and aliases stay.
 * It means the same, and formatted again it stays as it is.
 * @return PAI_OK; PAI_ENOTSUP for the rare text that has none; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_draft_format(pai_draft *draft, pai_error **err);

/** Writes the value of a place as JSON on one line, secrets as they are.
 *  @return as pai_draft_unset(), or what @p write answered  @since 0.1 */
PAI_API PAI_NODISCARD int pai_draft_get(const pai_draft *draft,
                                        const char *path, pai_write_cb write,
                                        void *user_data, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_DRAFT_H */
