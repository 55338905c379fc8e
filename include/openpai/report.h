/**
 * @file openpai/report.h
 * Reports of a file check: diagnostics with their place and their fixes.  A
 * report holds at most 1,000 diagnostics or 1 MiB of text; then a last
 * diagnostic, with the code "more", says how many were left out.
 *
 * Threads: IMMUTABLE.
 */
#ifndef OPENPAI_REPORT_H
#define OPENPAI_REPORT_H

#include <openpai/base.h>

PAI_BEGIN_DECLS

typedef struct pai_report pai_report; /**< opaque; pai_report_free() */

/** Severity of a diagnostic; an error makes the file invalid. */
enum {
  PAI_SEVERITY_WARNING = 1, /**< legal, but probably a mistake */
  PAI_SEVERITY_ERROR = 2
};

/** Types of a value; bits of pai_diagnostic.types. */
enum {
  PAI_VALUE_NULL = 1,
  PAI_VALUE_BOOL = 2,
  PAI_VALUE_WHOLE = 4, /**< a number without a fraction */
  PAI_VALUE_NUMBER = 8,
  PAI_VALUE_TEXT = 16,
  PAI_VALUE_LIST = 32,
  PAI_VALUE_MAPPING = 64
};

/** An edit of the text.  Lines and columns count as in pai_diagnostic. */
typedef struct pai_text_edit {
  size_t struct_size;
  uint32_t line, column;
  uint32_t end_line, end_column; /**< equal to line and column: nothing is
                                      removed */
  const char *text;              /**< the new text; "": only remove */
} pai_text_edit;

/** A correction of a problem: edits of the checked text, to be applied
 *  together. */
typedef struct pai_fix {
  size_t struct_size;
  const char *title; /**< one line, such as "write 'jobRetryCount'" */
  int sure; /**< 1: the fix is certainly intended, or does not change the
                 meaning; 0: a person should decide */
  size_t edit_count;
  const pai_text_edit *const *edits; /**< in the order of the text, without
                                          overlaps */
} pai_fix;

/** A problem of the file; owned by its report. */
typedef struct pai_diagnostic {
  size_t struct_size;
  int severity;
  const char *code;      /**< stable, such as "unknown-key" */
  const char *pointer;   /**< JSON pointer of the place; "" for the file */
  uint32_t line, column; /**< where the problem begins, from 1; columns count
                              characters */
  uint32_t end_line, end_column; /**< just after the end */
  const char *message;           /**< one line with the wrong value */
  const char *help;              /**< how to correct the problem, or NULL */
  const char *source;     /**< the line where the problem begins, or a part of
                               that line after dots; secrets are "******"; NULL
                               when the line cannot be shown */
  uint32_t source_column; /**< column in `source` where the problem begins,
                               from 1 */
  uint32_t source_end_column; /**< column in `source` just after the problem;
                                   source_column + 1 if it is empty or ends on
                                   a later line */
  /* Expected values; 0 or NULL for other codes. */
  const char *missing;         /**< missing-key: the name of the field */
  unsigned types;              /**< wrong-type, not-allowed, too-few: allowed
                                    types, bits of PAI_VALUE_* */
  int64_t limit;               /**< too-small: the least number; too-few: the
                                    fewest entries; too-long: the most
                                    characters */
  const char *pattern;         /**< bad-name: a regular expression for a value;
                                    NULL: the name is a key */
  const char *const *allowed;  /**< not-allowed: the allowed values as texts,
                                    then NULL */
  size_t fix_count;            /**< number of fixes; 0: none is known */
  const pai_fix *const *fixes; /**< best first; NULL for none */
} pai_diagnostic;

/** Returns 1 when the report has no errors.  @since 0.1 */
PAI_API int pai_report_valid(const pai_report *report);

/** Form of a checked job file: 1: job config v1; 2: job protocol v2; 0:
 *  unknown, or not a job file.  @since 0.1 */
PAI_API int pai_report_version(const pai_report *report);

/** Number of diagnostics; 0 for NULL.  @since 0.1 */
PAI_API size_t pai_report_count(const pai_report *report);

/** Diagnostic @p i, from 0; NULL beyond the last.  @since 0.1 */
PAI_API const pai_diagnostic *pai_report_get(const pai_report *report,
                                             size_t i);

/** Decides about each fix.  Returns 1: apply it; 0: skip it; a negative number
 *  aborts the calling function, which returns that number. */
typedef int (*pai_fix_cb)(void *user_data, const pai_diagnostic *diagnostic,
                          const pai_fix *fix);

/**
 * Writes the text with fixes applied.  For each diagnostic, the first chosen
 * fix is applied that does not overlap an edit already made.  Check the new
 * text to find the remaining problems.  The rest of the text is unchanged,
 * including comments.
 *
 * @param report     the report of @p text
 * @param text       the text that was checked; not kept
 * @param len        its length in bytes
 * @param choose     decides about each fix; NULL: apply all sure fixes
 * @param write      receives the text, also when nothing has changed
 * @param user_data  passed to @p choose and @p write
 * @param[out] err   NULL, or receives the error of a failure
 * @return the number of applied fixes; PAI_EINVAL: invalid arguments;
 *         PAI_ELIMIT: more than 1 GiB; PAI_ENOMEM; or the return value of
 *         @p choose or @p write
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
