/* codes.c - what each code of a finding stands for, in a line */
#include "check.h"

#include <string.h>

static const struct {
  const char *code, *means;
} codes[] = {
  { "auth-incomplete", "An account lacks its username or password" },
  { "auth-registry", "An account does not say which registry it is for" },
  { "bad-item", "An item is not as its type asks" },
  { "bad-name", "A name has characters that it may not have" },
  { "bad-template", "A template in a command cannot be read" },
  { "duplicate-key", "A key is in its mapping twice" },
  { "duplicate-name", "Two things have the same name" },
  { "empty", "A text is empty and must not be" },
  { "group-mismatch",
    "Task roles of one HiveD group ask for different cells" },
  { "hived-instances", "HiveD wants the number of instances written out" },
  { "limit", "The file or the job is larger than allowed" },
  { "missing-key", "A field is missing" },
  { "negative", "No task starts with a number below 0" },
  { "no-effect", "What is written there has no effect" },
  { "no-json", "JSON has no such value" },
  { "not-allowed", "The value is none of those that the field may have" },
  { "object-text", "A template is filled in with a mapping" },
  { "out-of-range", "No task starts with this number" },
  { "out-of-reach", "A number of tasks that the role can never reach" },
  { "port-collision", "Ports overlap" },
  { "port-count", "A label gets more ports than anybody means" },
  { "role-collision", "OpenPAI's runtime takes one task role for another" },
  { "role-name", "OpenPAI's runtime cannot start a task role of this name" },
  { "shared-name", "Prerequisites of two types have the same name" },
  { "ssh-without-gang", "ssh between tasks that do not start together" },
  { "syntax", "The file is neither YAML nor JSON" },
  { "too-few", "A list or mapping is empty and must not be" },
  { "too-large", "A number is too large" },
  { "too-long", "A text is too long" },
  { "too-small", "A number is too small" },
  { "unknown-key", "There is no such field" },
  { "unknown-name", "A name refers to nothing" },
  { "unknown-plugin", "OpenPAI brings no such plugin" },
  { "unknown-secret", "A template names a secret that is not there" },
  { "unreadable", "The file could not be read" },
  { "unresolved", "Nothing stands for a name in a template" },
  { "unused-parameter", "Nothing uses a parameter" },
  { "wrong-type", "The value is of another type than the field" },
  { "zero", "No task runs with 0 of it" },
};

const char *cli_code_means(const char *code)
{
  for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
    if (strcmp(codes[i].code, code) == 0)
      return codes[i].means;
  return NULL;
}
