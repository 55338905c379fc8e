/* strength.c - refuses passwords that are too short, too long or well known */
#include "account/inside.h"

/* Passwords that guessing programs try first, in lower case.  Shorter ones
 * than eight characters are refused anyway. */
static const char *const common[] = {
  "00000000",    "0123456789",   "0987654321", "10203040",
  "11111111",    "11223344",     "12121212",   "123123123",
  "12341234",    "12344321",     "12345678",   "123456789",
  "1234567890",  "147258369",    "1q2w3e4r",   "1q2w3e4r5t",
  "1qaz2wsx",    "1qaz2wsx3edc", "1qazxsw2",   "31415926",
  "789456123",   "87654321",     "88888888",   "987654321",
  "a1b2c3d4",    "aa123456",     "abc12345",   "abcd1234",
  "abcdefgh",    "abcdefghi",    "access14",   "admin-password",
  "admin123",    "admin1234",    "adminadmin", "administrator",
  "alexander",   "arsenal1",     "asdfghjk",   "asdfghjkl",
  "baseball",    "baseball1",    "basketball", "batman123",
  "changeit",    "changeme",     "changeme1",  "changeme123",
  "charlie1",    "chelsea1",     "computer",   "corvette",
  "default1",    "defaultpai",   "dragon12",   "elizabeth",
  "football",    "football1",    "guest123",   "guestguest",
  "hello123",    "helloworld",   "iloveyou",   "iloveyou1",
  "internet",    "jennifer",     "jonathan",   "killer12",
  "letmein1",    "letmein123",   "liverpool",  "login123",
  "master12",    "mercedes",     "michael1",   "michelle",
  "monkey12",    "mustang1",     "openpai1",   "openpai123",
  "p@ssw0rd",    "p@ssword",     "pa$$word",   "passw0rd",
  "passw0rd1",   "password",     "password1",  "password12",
  "password123", "password1234", "princess",   "princess1",
  "q1w2e3r4",    "q1w2e3r4t5",   "qwerty12",   "qwerty123",
  "qwerty1234",  "qwertyui",     "qwertyuiop", "root1234",
  "rootroot",    "samantha",     "secret12",   "secret123",
  "shadow12",    "starwars",     "sunshine",   "superman",
  "superman1",   "temp1234",     "test1234",   "testing123",
  "testtest",    "trustno1",     "user1234",   "victoria",
  "welcome1",    "welcome12",    "welcome123", "whatever",
  "zaq12wsx",    "zaq1zaq1",     "zxcvbnm1"
};

static char lower(char c)
{
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_same(const char *a, const char *b)
{
  while (*a != '\0' && lower(*a) == lower(*b))
    a++, b++;
  return *a == '\0' && *b == '\0';
}

/* Returns whether the text is a row like "aaaaaaaa", "23456789" or
 * "hgfedcba". */
static bool is_row(const char *text)
{
  int step = lower(text[1]) - lower(text[0]);

  if (step < -1 || step > 1)
    return false;
  for (size_t i = 1; text[i] != '\0'; i++)
    if (lower(text[i]) - lower(text[i - 1]) != step)
      return false;
  return true;
}

static bool is_common(const char *user, const char *text)
{
  for (size_t i = 0; i < PAI__LEN(common); i++)
    if (is_same(common[i], text))
      return true;
  return is_same(user, text) || (text[0] != '\0' && is_row(text));
}

int pai__password_check(const pai_accounts *a, const char *what,
                        const char *user, const char *text, pai_error **err)
{
  int rc = PAI_OK;

  if (strlen(text) < a->least_password)
    rc = pai__invalid(err, "\"%s\" must have at least %u characters", what,
                      a->least_password);
  else if (strlen(text) > PAI__MOST_PASSWORD)
    rc = pai__invalid(err, "\"%s\" must have at most %d characters", what,
                      PAI__MOST_PASSWORD);
  else if (a->least_password >= PAI__LEAST_PASSWORD && is_common(user, text))
    rc = pai__invalid(err,
                      "\"%s\" must not be the user name or a common "
                      "password",
                      what);
  return rc;
}
