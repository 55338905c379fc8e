/* pattern.c - character patterns of texts in request bodies */
#include "api/api.h"

static bool is_word(unsigned char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

static bool is_user(unsigned char c)
{
  return is_word(c) || c == '.' || c == '-';
}

static bool is_no_comma(unsigned char c)
{
  return c != ',';
}

const pai__api_pattern pai__user_pattern = { is_user, "^[\\w.-]+$", NULL };
const pai__api_pattern pai__group_pattern = {
  is_word, "^[A-Za-z0-9_]+$",
  "must only contain alpha-numeric and underscore characters"
};
const pai__api_pattern pai__no_comma_pattern = { is_no_comma, "^[^,]+$",
                                                 NULL };
