/* draft.c - edits of a job file's text that keep the rest, comments
 * included */
#include "draft.h"

#include <stdlib.h>
#include <string.h>

char *cli_draft_value(const pai_draft *draft, const char *pointer)
{
  char *text = NULL;
  size_t len;
  FILE *out = open_memstream(&text, &len);
  int rc;

  if (out == NULL)
    return NULL;
  rc = pai_draft_get(draft, pointer, cli_write, out, NULL);
  if (fclose(out) == 0 && rc == PAI_OK)
    return text;
  free(text);
  return NULL;
}

int cli_draft_change(pai_draft **out, const char *text, size_t len,
                     const pai_spec_options *options, cli_draft_cb change,
                     void *data, pai_error **err)
{
  int rc = pai_draft_new(out, text, len, options, err);
  char *plain;

  if (rc == PAI_OK)
    rc = change(*out, data, err);
  if (rc != PAI_ENOTSUP || (plain = cli_draft_value(*out, "")) == NULL)
    return rc;
  pai_error_free(*err);
  *err = NULL;
  pai_draft_free(*out);
  rc = pai_draft_new(out, plain, strlen(plain), options, err);
  free(plain);
  return rc == PAI_OK ? change(*out, data, err) : rc;
}
