/* scalar.c - types of plain scalars, shared by both schemas */
#include "yaml/scalar.h"

static bool is(const char *s, size_t len, const char *word)
{
  return len == strlen(word) && memcmp(s, word, len) == 0;
}

int pai__yaml_null(pai__scalar *out, const char *s, size_t len,
                   const pai_alloc *alloc)
{
  (void)alloc;
  if (!is(s, len, "~") && !is(s, len, "null") && !is(s, len, "Null") &&
      !is(s, len, "NULL"))
    return PAI_ENOTFOUND;
  out->type = PAI__NULL;
  return PAI_OK;
}

int pai__yaml_bool(pai__scalar *out, const char *s, size_t len,
                   const pai_alloc *alloc)
{
  bool yes = is(s, len, "true") || is(s, len, "True") || is(s, len, "TRUE");

  (void)alloc;
  if (!yes && !is(s, len, "false") && !is(s, len, "False") &&
      !is(s, len, "FALSE"))
    return PAI_ENOTFOUND;
  out->type = PAI__BOOL;
  out->u.b = yes;
  return PAI_OK;
}

int pai__yaml_plain(pai__scalar *out, const char *s, size_t len, bool js,
                    const pai_alloc *alloc)
{
  pai__scalar_fn number[3] = { pai__yaml_core_int, pai__yaml_core_float,
                               NULL };
  int rc = PAI_ENOTFOUND;

  out->type = PAI__STRING;
  if (len == 0) {
    out->type = PAI__NULL;
    return PAI_OK;
  }
  if (js) {
    number[0] = pai__yaml_js_int;
    number[1] = pai__yaml_js_float;
    number[2] = pai__yaml_js_timestamp;
  }
  switch (s[0]) { /* the first byte decides most types */
  case '~':
  case 'n':
  case 'N': rc = pai__yaml_null(out, s, len, alloc); break;
  case 't':
  case 'T':
  case 'f':
  case 'F': rc = pai__yaml_bool(out, s, len, alloc); break;
  case '+':
  case '-':
  case '.':
  case '0':
  case '1':
  case '2':
  case '3':
  case '4':
  case '5':
  case '6':
  case '7':
  case '8':
  case '9':
    for (size_t i = 0; rc == PAI_ENOTFOUND && i < PAI__LEN(number); i++)
      if (number[i] != NULL)
        rc = number[i](out, s, len, alloc);
    break;
  default: break;
  }
  if (rc == PAI_ENOTFOUND) {
    out->type = PAI__STRING;
    rc = PAI_OK;
  }
  return rc;
}

/* Returns the value of a base64 digit, 64 for padding, or -1. */
static int base64_digit(char c)
{
  static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
  const char *found = c != '\0' ? strchr(digits, c) : NULL;

  return found != NULL ? (int)(found - digits) : -1;
}

bool pai__base64(char *dst, size_t *dst_len, const char *s, size_t len)
{
  uint32_t bits = 0;
  size_t chars = 0, digits = 0, n = 0;

  for (size_t i = 0; i < len; i++) {
    int digit = base64_digit(s[i]);
    if (s[i] == '\n' || s[i] == '\r')
      continue;
    if (digit < 0)
      return false;
    chars++;
    if (digit == 64)
      continue;
    bits = bits << 6 | (uint32_t)digit;
    if (++digits % 4 != 0)
      continue;
    dst[n++] = (char)(bits >> 16);
    dst[n++] = (char)(bits >> 8);
    dst[n++] = (char)bits;
  }
  if (chars % 4 != 0)
    return false;
  if (digits % 4 >= 2) {
    bits <<= 6 * (4 - digits % 4);
    dst[n++] = (char)(bits >> 16);
    if (digits % 4 == 3)
      dst[n++] = (char)(bits >> 8);
  }
  *dst_len = n;
  return true;
}
