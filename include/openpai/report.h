/**
 * @file openpai/report.h
 * The problems of a file, each with its place and how to correct it.  A report
 * ends after 1,000 diagnostics or 1 MiB of text; a last one, of code "more",
 * then says how many were left out.
 *
 * Threads: IMMUTABLE.
 */
#ifndef OPENPAI_REPORT_H
#define OPENPAI_REPORT_H

#include <openpai/base.h>

PAI_BEGIN_DECLS

typedef struct pai_report pai_report; /**< opaque; pai_report_free() */

/** How bad it is: an error makes the file invalid. */
enum {
  PAI_SEVERITY_WARNING = 1, /**< legal, but probably a mistake */
  PAI_SEVERITY_ERROR = 2
};

/** What a value may be; bits of pai_diagnostic.types. */
enum {
  PAI_VALUE_NULL = 1,
  PAI_VALUE_BOOL = 2,
  PAI_VALUE_WHOLE = 4, /**< a number without a fraction */
  PAI_VALUE_NUMBER = 8,
  PAI_VALUE_TEXT = 16,
  PAI_VALUE_LIST = 32,
  PAI_VALUE_MAPPING = 64
};

/** A change of the text.  Places are as those of pai_diagnostic. */
typedef struct pai_text_edit {
  size_t struct_size;
  uint32_t line, column;
  uint32_t end_line, end_column; /**< the same: nothing is taken out */
  const char *text;              /**< what stands there then; "": nothing */
} pai_text_edit;

/** A way to correct a problem: all of its edits, of the text that was checked. */
typedef struct pai_fix {
  size_t struct_size;
  const char *title; /**< one line, as "write 'jobRetryCount'" */
  int sure; /**< 1: it says what was meant, or changes no meaning; 0: a
                          person should choose it */
  size_t edit_count;
  const pai_text_edit *const
    *edits; /**< in the order of the text, and apart */
} pai_fix;

/** A problem of the file; belongs to its report. */
typedef struct pai_diagnostic {
  size_t struct_size;
  int severity;
  const char *code;      /**< stable, as "unknown-key" */
  const char *pointer;   /**< JSON pointer of the place; "" for the file */
  uint32_t line, column; /**< where it begins, from 1; columns count
                               characters */
  uint32_t end_line, end_column; /**< where it has ended */
  const char *message;           /**< one line that names the wrong value */
  const char *help;              /**< how to correct it, or NULL */
  const char *source;     /**< the line it begins in, or a part of it with dots
                            before it; each secret is "******"; NULL when it
                            cannot be shown */
  uint32_t source_column; /**< of `source`, where it begins, from 1 */
  uint32_t source_end_column; /**< of `source`, behind its last character
                                   there; source_column + 1 for nothing, and
                                   for what ends on a later line */
  /* What the file would have to say, as values; 0 or NULL for other codes. */
  const char *missing;         /**< missing-key: the name of the field */
  unsigned types;              /**< wrong-type, not-allowed, too-few: what the
                                   value may be, of PAI_VALUE_* */
  int64_t limit;               /**< too-small: the least number; too-few: the
                                   fewest entries; too-long: the most
                                   characters */
  const char *pattern;         /**< bad-name: a regular expression for a value;
                                   NULL: it is a key */
  const char *const *allowed;  /**< not-allowed: the values, as texts, with a
                                   NULL behind them */
  size_t fix_count;            /**< of ways to correct it; 0: none is known */
  const pai_fix *const *fixes; /**< the best first; NULL for none */
} pai_diagnostic;

/** 1 when there is no error.  @since 0.1 */
PAI_API int pai_report_valid(const pai_report *report);

/** Of a job file, 1: job config v1; 2: job protocol v2; 0: unknown, or another
 *  kind of file.  @since 0.1 */
PAI_API int pai_report_version(const pai_report *report);

/** How many diagnostics there are; none of NULL.  @since 0.1 */
PAI_API size_t pai_report_count(const pai_report *report);

/** Diagnostic @p i, from 0; NULL beyond the last.  @since 0.1 */
PAI_API const pai_diagnostic *pai_report_get(const pai_report *report,
                                             size_t i);

/** Asked for each fix: 1: apply it; 0: leave it; a negative number ends the call
 *  that asks, which returns it. */
typedef int (*pai_fix_cb)(void *user_data, const pai_diagnostic *diagnostic,
                          const pai_fix *fix);

/**
 * Writes a text corrected.  Of a diagnostic the first fix is applied that is
 * chosen and leaves alone what another one has changed; what then remains, a
 * check of the new text tells.  All else stays as it is, comments included.
 *
 * @param report     of that text
 * @param text       what was checked; not kept
 * @param len        its length in bytes
 * @param choose     NULL: apply the fixes that are sure; else asked for each
 * @param write      takes the text, also when nothing has changed
 * @param user_data  handed to @p choose and @p write
 * @param[out] err   NULL, or receives the error of a failure
 * @return how many fixes were applied; PAI_EINVAL for a broken call; PAI_ELIMIT:
 *         more than 1 GiB; PAI_ENOMEM; or what @p choose or @p write answered
 * @since 0.1
 */
PAI_API PAI_NODISCARD int pai_report_fix(const pai_report *report,
                                         const char *text, size_t len,
                                         pai_fix_cb choose, pai_write_cb write,
                                         void *user_data, pai_error **err);

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_report_free(pai_report *report);

PAI_END_DECLS

#endif /* OPENPAI_REPORT_H */
