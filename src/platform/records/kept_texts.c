/* kept_texts.c - texts that the host keeps in the database */
#include "platform/platform.h"

#include <stdio.h>
#include <string.h>

enum { MOST_NAME = 64 };

/* Writes the key of a name, which no key of the platform equals. */
static int make_key(char key[MOST_NAME + 8], const pai_platform *p,
                    const char *name, pai_error **err)
{
  size_t len = strlen(name);

  if (len == 0 || len > MOST_NAME ||
      strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-.") != len)
    return pai__fail(err, PAI_EINVAL,
                     "a name of a kept text has 1 to %d of a-z 0-9 _ - .",
                     MOST_NAME);
  if (p->store == NULL)
    return pai__fail(err, PAI_ENOTSUP, "the platform has no database");
  (void)snprintf(key, MOST_NAME + 8, "host:%s", name);
  return PAI_OK;
}

int pai_platform_keep_text(pai_platform *p, const char *name, const char *text,
                           pai_error **err)
{
  char key[MOST_NAME + 8];
  int rc;

  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(name != NULL, err);
  rc = make_key(key, p, name, err);
  if (rc < 0)
    return rc;
  if (pai__batch_put_meta(p->batch, key, text) < 0)
    return pai__oom(err);
  pai__platform_hurry(p);
  return PAI_OK;
}

int pai_platform_kept_text(pai_platform *p, const char *name,
                           pai_write_cb write, void *user_data,
                           pai_error **err)
{
  char key[MOST_NAME + 8], *text = NULL;
  int rc;

  PAI__CHECK_OBJECT(p, err);
  PAI__CHECK_ARG_ERR(name != NULL && write != NULL, err);
  rc = make_key(key, p, name, err);
  if (rc == PAI_OK)
    rc = pai__store_meta(p->store, &text, key, err);
  if (rc == PAI_OK && text == NULL)
    return pai__fail(err, PAI_ENOTFOUND, "there is no kept text %s", name);
  if (rc == PAI_OK)
    rc = write(user_data, text, strlen(text));
  pai__strfree(&p->alloc, text);
  return rc;
}
