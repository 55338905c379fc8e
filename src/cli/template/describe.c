/* describe.c - what a job file says of itself as a template */
#include "template.h"

#include "draft.h"

#include <stdlib.h>
#include <string.h>

/* Returns a text of the file, for free(), "" if there is none. */
static char *text_at(const pai_draft *draft, const char *pointer)
{
  char *json = cli_draft_value(draft, pointer), *text = NULL;
  pai_json *j = NULL;

  if (json != NULL && cli_json_read(&j, json, strlen(json)))
    text = strdup(cli_json_text(j, 0, ""));
  cli_json_free(&j);
  free(json);
  return text != NULL ? text : strdup("");
}

/* Returns a list of the file as JSON, for free(), [] if there is none. */
static char *list_at(const pai_draft *draft, const char *pointer)
{
  char *json = cli_draft_value(draft, pointer);

  if (json != NULL && json[0] == '[')
    return json;
  free(json);
  return strdup("[]");
}

bool cli_template_describe(cli_template_words *out, const char *text,
                           size_t len)
{
  pai_draft *draft = NULL;

  *out = (cli_template_words){ 0 };
  if (pai_draft_new(&draft, text, len, NULL, NULL) < 0)
    return false;
  out->name = text_at(draft, "/name");
  out->description = text_at(draft, "/description");
  out->summary = out->description != NULL
                   ? strndup(out->description, strcspn(out->description, "\n"))
                   : NULL;
  out->categories = list_at(draft, "/extras/marketplace/categories");
  out->tags = list_at(draft, "/extras/marketplace/tags");
  pai_draft_free(draft);
  if (out->name != NULL && out->summary != NULL && out->categories != NULL &&
      out->tags != NULL)
    return true;
  cli_template_words_free(out);
  return false;
}

void cli_template_words_free(cli_template_words *words)
{
  free(words->name);
  free(words->summary);
  free(words->description);
  free(words->categories);
  free(words->tags);
  *words = (cli_template_words){ 0 };
}
