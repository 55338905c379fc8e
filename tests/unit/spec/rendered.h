/* rendered.h - templates, and a document of which they name places */
#ifndef PAI_TESTS_SPEC_RENDERED_H
#define PAI_TESTS_SPEC_RENDERED_H

#include "testing.h"

#include "spec/template.h"

#define P "$parameters."
#define S "<% $parameters.s %>"

/* Before and after the tests. */
int read_document(void **state);
int free_document(void **state);

/* The scopes of a command, and that of what is filled in later. */
const pai__template *command_template(void);
const pai__template *secrets_template(void);

/* What a text becomes. */
void shows(const pai__template *t, const char *text, const char *want);
/* Where it is refused, and a part of why. */
void expect_refusal(const pai__template *t, const char *text, int code,
                    size_t at, const char *part);

/* What a callback was told. */
typedef struct heard {
  char name[256];
  size_t at;
  int count, answer;
} heard;

int hear(void *user_data, const char *name, size_t len, size_t at);

#endif
