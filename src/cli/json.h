/* json.h - reading values of JSON answers by path, and printing JSON */
#ifndef PAI_SRC_CLI_JSON_H
#define PAI_SRC_CLI_JSON_H

#include "cli.h"

#include <openpai/json.h>

#include <stdint.h>

/* Parses JSON.  Returns false and sets *out to NULL if the text is not JSON or
 * memory is short.  All functions here treat a NULL document as empty. */
bool cli_json_read(pai_json **out, const char *text, size_t len);
/* Frees *json and sets it to NULL. */
void cli_json_free(pai_json **json);

/* Returns the value at a path below `of`: keys separated by "/", as in
 * "jobStatus/state"; "" is `of` itself.  Returns PAI_JSON_NONE if there is no
 * value or it is null. */
size_t cli_json_get(const pai_json *json, size_t of, const char *path);
/* Returns whether the path has a value. */
bool cli_json_has(const pai_json *json, size_t of, const char *path);
/* Return the string at the path, or ""; the number, or `missing`. */
const char *cli_json_text(const pai_json *json, size_t of, const char *path);
int64_t cli_json_number(const pai_json *json, size_t of, const char *path,
                        int64_t missing);
/* Returns a number with up to three decimals, such as an amount of CPUs, in
 * thousandths; 0 if there is none. */
int64_t cli_json_milli(const pai_json *json, size_t of, const char *path);
/* Returns whether the value is true; false if there is none. */
bool cli_json_true(const pai_json *json, size_t of, const char *path);

/* Returns "USER~NAME" of an item of a list of jobs, for free(). */
char *cli_json_name(const pai_json *json, size_t item);

/* A walk over a list or an object:
 * for (cli_each e = cli_each_of(json, list); cli_next(&e);) */
typedef struct cli_each {
  const pai_json *json;
  size_t of, next;
  size_t at;       /* the value */
  const char *key; /* its key, "" in a list */
} cli_each;
cli_each cli_each_of(const pai_json *json, size_t of);
bool cli_next(cli_each *e);

/* An iterator over the tasks of a job, in the JSON of GET /jobs/NAME. */
typedef struct cli_each_task {
  cli_each role, task;
} cli_each_task;
cli_each_task cli_tasks_of(const pai_json *job);
bool cli_next_task(cli_each_task *e);

/* Formats the JSON pointer of a key below `below`.  Returns false if the
 * buffer is too small. */
bool cli_json_pointer(char *out, size_t size, const char *below,
                      const char *key, size_t len);

/* Prints JSON with a format like that of printf(): %s is a quoted string, or
 * null for NULL; %.*s a quoted string of a given length; %c a boolean.
 * Numbers: %d, %u, %zu, %lld and %llu; a %lld of CLI_NULL prints null. */
#define CLI_NULL INT64_MIN
/* A boolean for %c, as an int: compilers warn about a bool there. */
static inline int cli_truth(bool value)
{
  return value ? 1 : 0;
}
/* Returns the number, or CLI_NULL if it is -1 (not known). */
int64_t cli_known_or_null(int64_t number);
void cli_json_print(FILE *out, const char *form, ...)
#ifdef __GNUC__
  __attribute__((format(printf, 2, 3)))
#endif
  ;
/* Returns a JSON list of the strings of a list separated by commas, for
 * free(); NULL without memory. */
char *cli_json_list(const char *list);
/* As cli_json_print(), into a string, for free(); NULL without memory. */
char *cli_json_make(const char *form, ...)
#ifdef __GNUC__
  __attribute__((format(printf, 1, 2)))
#endif
  ;

#endif
