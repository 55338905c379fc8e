/* names.c - OpenPAI's names and identifiers of a job, its roles and its
 * tasks */
#include "job/plan/names.h"

#include "base/text/number.h"

/* Appends letters and digits in lower case, drops everything else. */
static void put_plain(pai__buf *out, const char *name)
{
  for (; *name != '\0'; name++) {
    char c = *name;

    if (c >= 'A' && c <= 'Z')
      c = (char)(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      pai__buf_char(out, c);
  }
}

void pai__name_encode(pai__buf *out, const char *job)
{
  char hex[PAI__MD5_HEX];

  if (strncmp(job, "unknown", 7) == 0 || strchr(job, '~') == NULL)
    put_plain(out, job);
  else
    pai__buf_str(out, pai__md5_hex(hex, job, strlen(job)));
}

void pai__name_role(pai__buf *out, const char *role)
{
  put_plain(out, role);
}

/* Formats 8-4-4-4-12 digits. */
static void put_dashes(char out[PAI__UID], const char *hex)
{
  static const uint8_t parts[] = { 8, 4, 4, 4, 12 };

  for (size_t i = 0; i < PAI__LEN(parts); i++) {
    memcpy(out, hex, parts[i]);
    out += parts[i];
    hex += parts[i];
    *out++ = '-';
  }
  out[-1] = '\0';
}

/* Appends "[value]". */
static void put_part(pai__buf *out, const char *value)
{
  pai__buf_char(out, '[');
  pai__buf_str(out, value);
  pai__buf_char(out, ']');
}

static void put_number(pai__buf *out, uint32_t value)
{
  char text[PAI__DOUBLE_TEXT];

  (void)pai__format_int(text, value);
  put_part(out, text);
}

const char *pai__uid(char out[PAI__UID], const pai_alloc *alloc,
                     const pai__uid_of *of)
{
  char hex[PAI__MD5_HEX];
  pai__buf b;

  pai__buf_init(&b, alloc);
  put_part(&b, of->job);
  put_part(&b, of->kind);
  put_number(&b, of->attempt);
  put_part(&b, of->role != NULL ? of->role : "");
  put_number(&b, of->index);
  put_number(&b, of->retry);
  out[0] = '\0';
  if (pai__buf_ok(&b)) {
    (void)pai__md5_hex(hex, pai__buf_text(&b), b.len);
    put_dashes(out, hex);
  }
  pai__buf_dispose(&b);
  return out;
}
