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
  const char *missing;        /**< missing-key: the name of the field */
  unsigned types;             /**< wrong-type, not-allowed, too-few: what the
                                   value may be, of PAI_VALUE_* */
  int64_t limit;              /**< too-small: the least number; too-few: the
                                   fewest entries; too-long: the most
                                   characters */
  const char *pattern;        /**< bad-name: a regular expression for a value;
                                   NULL: it is a key */
  const char *const *allowed; /**< not-allowed: the values, as texts, with a
                                   NULL behind them */
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

/** NULL is allowed.  @since 0.1 */
PAI_API void pai_report_free(pai_report *report);

PAI_END_DECLS

#endif /* OPENPAI_REPORT_H */
