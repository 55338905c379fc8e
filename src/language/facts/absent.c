/* absent.c - until the facts are written: texts without help */
#include "language/facts/facts.h"

static bool has(const char *text, size_t len, const char *word)
{
  size_t n = strlen(word);

  for (size_t i = 0; i + n <= len; i++)
    if (memcmp(text + i, word, n) == 0)
      return true;
  return false;
}

enum pai__language_kind pai__language_detect(const char *path,
                                             const char *text, size_t len)
{
  (void)path;
  if (has(text, len, "taskRoles") || has(text, len, "protocolVersion"))
    return PAI__LANGUAGE_JOB;
  return has(text, len, "nodes") ? PAI__LANGUAGE_CLUSTER
                                 : PAI__LANGUAGE_OTHER;
}

int pai__complete(const pai__language_text *t, size_t at,
                  const pai__cluster_names *names, pai__completion_cb cb,
                  void *user_data, pai_error **err)
{
  (void)t, (void)at, (void)names, (void)cb, (void)user_data, (void)err;
  return PAI_OK;
}

int pai__hover(const pai__language_text *t, size_t at, pai__span *range,
               pai__buf *markdown)
{
  (void)t, (void)at, (void)range, (void)markdown;
  return PAI_ENOTFOUND;
}

int pai__outline(const pai__language_text *t, pai__outline_cb cb,
                 void *user_data)
{
  (void)t, (void)cb, (void)user_data;
  return PAI_OK;
}

int pai__references(const pai__language_text *t, size_t at,
                    pai__reference_cb cb, void *user_data)
{
  (void)t, (void)at, (void)cb, (void)user_data;
  return PAI_OK;
}

int pai__can_rename(const pai__language_text *t, size_t at,
                    const char *new_name, pai__span *name, pai_error **err)
{
  (void)t, (void)at, (void)new_name, (void)name;
  return pai__fail(err, PAI_ENOTFOUND, "no name is here");
}

int pai__folding(const pai__language_text *t, pai__folding_cb cb,
                 void *user_data)
{
  (void)t, (void)cb, (void)user_data;
  return PAI_OK;
}

int pai__selection(const pai__language_text *t, size_t at, pai__span_cb cb,
                   void *user_data)
{
  (void)t, (void)at, (void)cb, (void)user_data;
  return PAI_OK;
}

int pai__tokens(const pai__language_text *t, pai__token_cb cb, void *user_data)
{
  (void)t, (void)cb, (void)user_data;
  return PAI_OK;
}

int pai__links(const pai__language_text *t, pai__link_cb cb, void *user_data)
{
  (void)t, (void)cb, (void)user_data;
  return PAI_OK;
}

int pai__lenses(const pai__language_text *t, pai__lens_cb cb, void *user_data)
{
  (void)t, (void)cb, (void)user_data;
  return PAI_OK;
}

int pai__hints(const pai__language_text *t, pai__hint_cb cb, void *user_data)
{
  (void)t, (void)cb, (void)user_data;
  return PAI_OK;
}

int pai__more_actions(const pai__language_text *t, pai__span span,
                      pai__action_cb cb, void *user_data)
{
  (void)t, (void)span, (void)cb, (void)user_data;
  return PAI_OK;
}
