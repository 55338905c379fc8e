/**
 * @file openpai/draft.h
 * Drafts: edit a job file in place, or create a new one.  Setting a value
 * leaves the rest of the text unchanged, including comments and quotes.
 *
 * A draft need not be a valid job file; pai_spec_check() reports what is
 * missing.
 *
 * Places are given by paths:
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
 * Creates a draft from a text, which must be valid YAML or JSON, but need not
 * be a valid job file.
 *
 * @param[out] out  the draft, owned by the caller; NULL on failure
 * @param text      UTF-8; NULL: an empty draft; not kept
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

/** The current text, valid until the next change; @p len may be NULL.
 *  @since 0.1 */
PAI_API const char *pai_draft_text(const pai_draft *draft, size_t *len);

/**
 * Sets a place to a value.  A missing key is added at the end of its mapping;
 * missing mappings above it are created.
 *
 * @param draft  unchanged after a failure
 * @param path   the place
 * @param value  YAML or JSON: 4, "text", [a, b]
 * @param[out] err   NULL, or receives the error of a failure
 * @return PAI_OK; PAI_EINVAL: an impossible path, or the value cannot be
 *         parsed; PAI_ENOTFOUND: no such list item; PAI_ENOTSUP: the change
 *         would also change another place, through an alias or merge key;
 *         PAI_ELIMIT; PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_draft_set(pai_draft *draft, const char *path,
                                        const char *value, pai_error **err);

/** Sets a place to a string, quoted if it would otherwise be read as another
 *  type.
 *  @return as pai_draft_set()  @since 0.1 */
PAI_API PAI_NODISCARD int pai_draft_set_text(pai_draft *draft,
                                             const char *path,
                                             const char *text, size_t len,
                                             pai_error **err);

/** Removes a place.  @return as pai_draft_set(); PAI_ENOTFOUND: there is no
 *  such place  @since 0.1 */
PAI_API PAI_NODISCARD int pai_draft_unset(pai_draft *draft, const char *path,
                                          pai_error **err);

/**
 * Formats the text in its canonical layout: YAML in block style with two
 * spaces a level, JSON on several lines.  Comments, the order of keys, anchors
 * and aliases are kept.  Formatting does not change the meaning, and
 * formatting twice changes nothing more.
 * @return PAI_OK; PAI_ENOTSUP: a rare text that has no canonical layout;
 *         PAI_ENOMEM
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_draft_format(pai_draft *draft, pai_error **err);

/** Writes the value of a place as JSON on one line, without masking secrets.
 *  @return as pai_draft_unset(), or the return value of @p write
 *  @since 0.1 */
PAI_API PAI_NODISCARD int pai_draft_get(const pai_draft *draft,
                                        const char *path, pai_write_cb write,
                                        void *user_data, pai_error **err);

PAI_END_DECLS

#endif /* OPENPAI_DRAFT_H */
