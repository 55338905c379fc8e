/*
 * topology_describe.c - hwloc's synthetic descriptions, checked before hwloc
 * reads them
 *
 *   [TYPE:]COUNT[(ATTRIBUTES)]   a level; from the outside
 *   [TYPE(ATTRIBUTES)]           in brackets: memory attached to a level
 *
 * hwloc multiplies the counts and allocates what comes out, and it aborts on
 * some attributes that are written wrongly.
 */
#include "resource/topology/topology.h"

enum { MOST_LEVELS = 64, MOST_IN_ONE = 1024, WORDS = PAI__TOPO_MAX_PUS / 32 };

typedef struct scan {
  const char *text, *at;
  uint64_t width, objects; /* objects of the last level, and of all levels */
  unsigned levels;
  pai_error **err;
} scan;

static int wrong(const scan *s, const char *what)
{
  (void)pai__fail(s->err, PAI_EINVAL, "this description has %s at column %zu",
                  what, (size_t)(s->at - s->text) + 1);
  pai__error_help(s->err, "levels are written TYPE:COUNT from the outside, as "
                          "in \"pack:2 [numa(memory=64GB)] core:8 pu:2\"");
  return PAI_EINVAL;
}

static int too_many(const scan *s)
{
  return pai__fail(s->err, PAI_ELIMIT,
                   "this description has more than %d processing units or %d "
                   "objects",
                   PAI__TOPO_MAX_PUS, PAI__TOPO_MAX_OBJECTS);
}

static bool is_digit(char c)
{
  return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Reads a decimal number; returns false if there is none.  A leading zero is
 * an error, because hwloc would read octal. */
static bool take_number(scan *s, uint64_t *n)
{
  const char *from = s->at;

  *n = 0;
  for (; is_digit(*s->at); s->at++)
    *n = *n < UINT32_MAX ? *n * 10 + (uint64_t)(*s->at - '0') : UINT32_MAX;
  return s->at > from && (*from != '0' || s->at == from + 1);
}

static bool take_word(scan *s, const char *word)
{
  size_t len = strlen(word);

  if (strncmp(s->at, word, len) != 0)
    return false;
  s->at += len;
  return true;
}

/* Checks indexes=0,2,1,3: one for each object, each once. */
static int take_indexes(scan *s)
{
  uint32_t seen[WORDS] = { 0 };
  uint64_t n = 0, i;

  do {
    s->at += n > 0;
    if (!take_number(s, &i))
      return wrong(s, "no number");
    if (i >= PAI__TOPO_MAX_PUS)
      return too_many(s);
    if ((seen[i / 32] >> (i % 32) & 1) != 0)
      return wrong(s, "an index for the second time");
    seen[i / 32] |= (uint32_t)1 << (i % 32);
    n++;
  } while (*s->at == ',');
  return n == s->width ? PAI_OK : wrong(s, "not as many indexes as objects");
}

/* Checks memory=64GB; hwloc computes with 64 bits. */
static int take_size(scan *s)
{
  static const char units[] = "bkmgt";
  const char *unit;
  int shift = 0;
  uint64_t n;

  if (!take_number(s, &n) || n >= UINT32_MAX)
    return wrong(s, "no size");
  unit = *s->at != '\0' ? strchr(units, *s->at | 0x20) : NULL;
  if (unit != NULL && *unit != '\0')
    shift = 10 * (int)(unit - units);
  if (n > PAI__TOPO_MAX_BYTES >> shift)
    return wrong(s, "more memory than any machine has");
  while (is_letter(*s->at))
    s->at++;
  return PAI_OK;
}

static int take_attributes(scan *s)
{
  s->at++;
  while (*s->at != ')') {
    int rc;
    if (take_word(s, "indexes="))
      rc = take_indexes(s);
    else if (take_word(s, "memory=") || take_word(s, "size=") ||
             take_word(s, "memorysidecachesize="))
      rc = take_size(s);
    else
      rc = wrong(s, "an attribute other than memory, size and indexes");
    if (rc < 0)
      return rc;
    if (*s->at == ' ')
      s->at++;
    else if (*s->at != ')')
      return wrong(s, "an attribute that does not end");
  }
  s->at++;
  return PAI_OK;
}

static void skip_type(scan *s)
{
  while (is_letter(*s->at) || is_digit(*s->at))
    s->at++;
}

static int take_attached(scan *s)
{
  int rc = PAI_OK;

  s->at++;
  if (!is_letter(*s->at))
    return wrong(s, "no type");
  skip_type(s);
  s->objects += s->width;
  if (s->objects > PAI__TOPO_MAX_OBJECTS)
    return too_many(s);
  if (*s->at == '(')
    rc = take_attributes(s);
  if (rc < 0)
    return rc;
  if (*s->at != ']')
    return wrong(s, "a [ without ]");
  s->at++;
  return PAI_OK;
}

static int take_level(scan *s)
{
  uint64_t n;

  if (is_letter(*s->at)) {
    skip_type(s);
    if (*s->at != ':')
      return wrong(s, "a level without its count");
    s->at++;
  }
  if (!take_number(s, &n) || n == 0)
    return wrong(s, "no count");
  if (n > MOST_IN_ONE) /* hwloc needs time in the cube of it: minutes */
    return pai__fail(s->err, PAI_ELIMIT,
                     "this description has more than %d of a kind in one",
                     MOST_IN_ONE);
  s->width *= n;
  s->objects += s->width;
  if (s->width > PAI__TOPO_MAX_PUS || s->objects > PAI__TOPO_MAX_OBJECTS ||
      ++s->levels > MOST_LEVELS)
    return too_many(s);
  return *s->at == '(' ? take_attributes(s) : PAI_OK;
}

int pai__topo_guard_synthetic(const char *text, pai_error **err)
{
  scan s = { .text = text, .at = text, .width = 1, .objects = 1, .err = err };
  int rc = PAI_OK;

  while (rc == PAI_OK && *s.at != '\0') {
    if (*s.at == ' ') {
      s.at++;
      continue;
    }
    rc = *s.at == '[' ? take_attached(&s) : take_level(&s);
    if (rc == PAI_OK && *s.at != ' ' && *s.at != '[' && *s.at != '\0')
      rc = wrong(&s, "something between its levels");
  }
  if (rc == PAI_OK && s.levels == 0)
    rc = wrong(&s, "no level");
  return rc;
}
