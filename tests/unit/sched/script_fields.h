/* script_fields.h - members of structures by their names, for script.c */
#ifndef PAI_TESTS_SCRIPT_FIELDS_H
#define PAI_TESTS_SCRIPT_FIELDS_H

#include "testing.h"

enum script_type { SCRIPT_INT, SCRIPT_U32, SCRIPT_U64, SCRIPT_TEXT };

typedef struct script_field {
  const char *key;
  size_t offset;
  enum script_type type;
} script_field;

/* Lists that end with a field without a key. */
extern const script_field script_want[], script_request[];
extern const script_field script_reservation[], script_reason[];
extern const script_field script_request_view[], script_node_view[];
extern const script_field script_vc_view[], script_sums[];

/* A number: decimal, or hexadecimal after 0x, with s, h, M or G behind it. */
bool script_number(const char *text, int64_t *number);

/* Sets a member from "KEY=VALUE"; false where there is no such one. */
bool script_set(const script_field *fields, void *object, const char *word);
/* Whether a member is as "KEY=VALUE" says; *is: what it is. */
bool script_is(const script_field *fields, const void *object,
               const char *word, char is[64]);

#endif
