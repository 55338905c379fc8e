/* settings_file.c - reads alerts.yaml and the files with secrets that it
 * names */
#include "server/alerts/settings.h"

#include "server/oidc/settings.h"

#include <gnutls/gnutls.h>
#include <string.h>

/* Makes a path that is relative to the folder of the settings absolute. */
static int from_folder(const char **path, pai__alert_settings *s,
                       const char *file, pai_error **err)
{
  const char *slash = strrchr(file, '/');
  size_t folder = slash != NULL ? (size_t)(slash + 1 - file) : 0, len;
  char *whole;

  if (*path == NULL || (*path)[0] == '/' || folder == 0)
    return PAI_OK;
  len = strlen(*path);
  whole = pai__arena_zalloc(&s->arena, folder + len + 1, 1);
  if (whole == NULL)
    return pai__oom(err);
  memcpy(whole, file, folder);
  memcpy(whole + folder, *path, len);
  *path = whole;
  return PAI_OK;
}

/* Reads the only line of a file that no other user can read. */
static int read_secret(char **out, pai__alert_settings *s, const char **path,
                       const char *file, pai_error **err)
{
  char *text = NULL;
  bool open = false;
  size_t len;
  int rc = from_folder(path, s, file, err);

  if (rc < 0 || *path == NULL)
    return rc;
  rc = pai__settings_load(&text, &s->alloc, *path, true, &open, err);
  if (rc < 0)
    return rc;
  len = strcspn(text, "\r\n");
  if (len == 0 || text[len + strspn(text + len, "\r\n")] != '\0')
    rc =
      pai__fail(err, PAI_EINVAL, "%s must be one line with a secret", *path);
  else if ((*out = pai__strndup(&s->alloc, text, len)) == NULL)
    rc = pai__oom(err);
  gnutls_memset(text, 0, strlen(text));
  pai__strfree(&s->alloc, text);
  return rc;
}

int pai__alert_settings_read(pai__alert_settings *out, const pai_alloc *alloc,
                             const char *path, pai_error **err)
{
  char *text = NULL;
  bool open = false;
  int rc;

  if (pai__alert_file_stamp(path) == 0)
    return pai__alert_settings_init(out, alloc, err);
  rc = pai__settings_load(&text, alloc, path, false, &open, err);
  if (rc < 0) {
    (void)!pai__alert_settings_init(out, alloc, NULL);
    return rc;
  }
  rc = pai__alert_settings_parse(out, alloc, path, text, strlen(text), err);
  pai__strfree(alloc, text);
  if (rc == PAI_OK)
    rc = from_folder(&out->mail.ca_file, out, path, err);
  if (rc == PAI_OK)
    rc = read_secret(&out->mail.password, out, &out->mail.password_file, path,
                     err);
  for (size_t i = 0; rc == PAI_OK && i < out->nreceivers; i++)
    rc = read_secret(&out->receivers[i].token, out,
                     &out->receivers[i].token_file, path, err);
  return rc;
}
