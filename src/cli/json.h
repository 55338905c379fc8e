/* json.h - what the platform answers, read */
#ifndef PAI_SRC_CLI_JSON_H
#define PAI_SRC_CLI_JSON_H

#include "cli.h"

#include <stdint.h>

/* A value: '{', '[', '"', '0' for a number, 't', 'f', 'n'. */
typedef struct cli_value {
  char type;
  const char *key;  /* in an object, else "" */
  const char *text; /* of a text, without escapes; of a number, as written */
  size_t next;      /* the value behind this one and all in it */
} cli_value;

typedef struct cli_json {
  char *text;
  cli_value *values; /* [0] is the whole; what is in one follows it */
  size_t count;
} cli_json;

/* False: it is no JSON, or memory is short. */
bool cli_json_read(cli_json *out, const char *text, size_t len);
void cli_json_free(cli_json *json);

/* A member of an object, or 0: there is none. */
size_t cli_json_get(const cli_json *json, size_t of, const char *key);
/* Its text, or ""; its number, or `missing`. */
const char *cli_json_text(const cli_json *json, size_t of, const char *key);
int64_t cli_json_number(const cli_json *json, size_t of, const char *key,
                        int64_t missing);

/* Whether it is true; one that is not there is not. */
bool cli_json_true(const cli_json *json, size_t of, const char *key);

/* A key below a place, as a JSON pointer.  False: there is no room for it. */
bool cli_json_pointer(char *out, size_t size, const char *below,
                      const char *key, size_t len);

/* for (size_t i = cli_json_first(j, of); i != 0; i = cli_json_next(j, of, i))
 */
size_t cli_json_first(const cli_json *json, size_t of);
size_t cli_json_next(const cli_json *json, size_t of, size_t i);

#endif
