/*
 * pattern.c - translates regular expressions for POSIX regcomp()
 *
 * Features that POSIX lacks (look-around, back-references, counted repetition,
 * word boundaries) are refused.  Counts and back-references also can make
 * regcomp() and regexec() use unlimited time and memory.
 */
#include "job/end/pattern.h"

/* Characters that may follow a backslash. */
static const char punctuation[] = "\\.+*?()|[]{}^$-/'\"";

/* Matches a character beyond ASCII: regexec() works on bytes.  A lone
 * continuation byte is no character, or ".." would match one character. */
#define BEYOND "[\300-\377][\200-\277]*"

enum { DEEPEST = 4 };

typedef struct maker {
  pai__pattern *p;
  const char *at;
  size_t len;                  /* of posix */
  const char *groups[DEEPEST]; /* open groups */
  int open;
  char run[PAI__PATTERN_NEEDS]; /* literal text outside groups */
  size_t nrun;
  bool lone;    /* the set is of one character, which may have several bytes */
  bool repeats; /* the last element can be repeated */
  bool either;  /* | outside groups: no text is common to all matches */
  bool bad;
} maker;

static void put(maker *m, const char *text)
{
  size_t n = strlen(text);

  m->bad |= m->len + n >= sizeof(m->p->posix);
  if (m->bad)
    return;
  memcpy(m->p->posix + m->len, text, n + 1);
  m->len += n;
}

static void open_posix(maker *m)
{
  m->bad |= ++m->p->nposix == PAI__PATTERN_MOST;
  put(m, "(");
}

/* --- the text that every match contains ---------------------------------- */

static void end_run(maker *m)
{
  if (m->nrun > strlen(m->p->needs)) {
    memcpy(m->p->needs, m->run, m->nrun);
    m->p->needs[m->nrun] = '\0';
  }
  m->nrun = 0;
}

static void put_text(maker *m, char c)
{
  if (m->nrun == sizeof(m->run) - 1)
    end_run(m);
  if (m->open == 0)
    m->run[m->nrun++] = pai__pattern_fold(m->p, c);
  if (strchr("\\.+*?()|[]{}^$", c) != NULL)
    put(m, "\\");
  put(m, (char[]){ c, '\0' });
  m->repeats = true;
}

/* --- sets ---------------------------------------------------------------- */

/* Begins a set, or a negated set, which ends before `behind`.  The byte
 * lengths of repeated characters do not matter. */
static void begin_set(maker *m, bool all_but, const char *behind)
{
  end_run(m);
  m->lone = all_but && *behind != '*' && *behind != '+';
  if (m->lone)
    open_posix(m);
  put(m, m->lone ? "[^\200-\377" : all_but ? "[^" : "[");
}

static void end_set(maker *m)
{
  put(m, m->lone ? "]|" BEYOND ")" : "]");
  m->repeats = true;
}

/* Returns the members of the set for \d, \s, \w or their opposites; or
 * NULL. */
static const char *members_of(char letter)
{
  switch (letter) {
  case 'd':
  case 'D': return "0-9";
  case 's':
  case 'S': return "\t\f\r ";
  case 'w':
  case 'W': return "0-9A-Za-z_";
  default: return NULL;
  }
}

static bool is_opposite(char letter)
{
  return letter < 'a';
}

static void put_set(maker *m, bool all_but, const char *members)
{
  begin_set(m, all_but, m->at);
  put(m, members);
  end_set(m);
}

/* Reads one character of a set. */
static char read_member(maker *m)
{
  bool escaped = *m->at == '\\';
  char c;

  m->at += escaped;
  c = *m->at;
  m->bad |= c == '\0' || (unsigned char)c >= 0x80 ||
            (escaped && strchr(punctuation, c) == NULL);
  if (m->bad)
    return '\0';
  m->at++;
  if (strchr("[]^-", c) != NULL)
    put(m, (char[]){ '[', '.', c, '.', ']', '\0' });
  else
    put(m, (char[]){ c, '\0' });
  return c;
}

static void read_members(maker *m)
{
  const char *members = *m->at == '\\' ? members_of(m->at[1]) : NULL;
  char first, last;

  if (members != NULL && !is_opposite(m->at[1])) {
    put(m, members);
    m->at += 2;
    return;
  }
  first = read_member(m);
  if (m->bad || *m->at != '-' || m->at[1] == ']')
    return;
  m->at++;
  put(m, "-");
  last = read_member(m);
  m->bad |= last < first;
}

static void read_set(maker *m)
{
  bool all_but = *m->at == '^';
  const char *end = m->at += all_but;

  while (*end != '\0' && *end != ']')
    end += *end == '\\' && end[1] != '\0' ? 2 : 1;
  m->bad |= *end == '\0' || end == m->at;
  if (m->bad)
    return;
  begin_set(m, all_but, end + 1);
  while (!m->bad && m->at < end)
    read_members(m);
  m->at++;
  end_set(m);
}

/* --- groups, repetitions and other elements ------------------------------ */

static void read_flags(maker *m)
{
  if (strncmp(m->at, "(?", 2) != 0 || m->at[2] == ':')
    return;
  for (m->at += 2; *m->at == 'i' || *m->at == 'm'; m->at++)
    if (*m->at == 'i')
      m->p->folds = true;
    else
      m->p->lines = true;
  m->bad |= *m->at != ')';
  m->at += *m->at == ')';
}

static void open_group(maker *m)
{
  bool reported = strncmp(m->at, "?:", 2) != 0;

  end_run(m);
  open_posix(m);
  m->bad |= m->open == DEEPEST;
  if (m->bad)
    return;
  m->groups[m->open++] = m->at - 1;
  if (!reported)
    m->at += 2;
  else if (m->p->ngroups < PAI__PATTERN_GROUPS)
    m->p->groups[m->p->ngroups++] = m->p->nposix;
  m->repeats = false;
}

static void close_group(maker *m)
{
  m->bad |= m->open == 0;
  if (m->bad)
    return;
  m->open--;
  put(m, ")");
  m->repeats = true;
}

static void read_escape(maker *m)
{
  char c = *m->at;
  const char *members = members_of(c);

  m->bad |= c == '\0' || (members == NULL && strchr(punctuation, c) == NULL);
  if (m->bad)
    return;
  m->at++;
  if (members == NULL)
    put_text(m, c);
  else
    put_set(m, is_opposite(c), members);
}

/* A lazy repetition is treated as a greedy one: the longest match is found. */
static void read_repeat(maker *m, const char *sign)
{
  m->bad |= !m->repeats;
  if (m->nrun > 0 && *sign != '+')
    m->nrun--; /* it is optional */
  end_run(m);
  put(m, sign);
  m->at += *m->at == '?';
  m->repeats = false;
}

static void put_mark(maker *m, const char *mark)
{
  end_run(m);
  m->either |= *mark == '|' && m->open == 0;
  put(m, mark);
  m->repeats = false;
}

static void read_next(maker *m)
{
  char c = *m->at++;

  switch (c) {
  case '.': put_set(m, true, "\n"); break;
  case '[': read_set(m); break;
  case '(': open_group(m); break;
  case ')': close_group(m); break;
  case '\\': read_escape(m); break;
  case '^': put_mark(m, "^"); break;
  case '$': put_mark(m, "$"); break;
  case '|': put_mark(m, "|"); break;
  case '*': read_repeat(m, "*"); break;
  case '+': read_repeat(m, "+"); break;
  case '?': read_repeat(m, "?"); break;
  default:
    m->bad |= (unsigned char)c >= 0x80;
    put_text(m, c);
    break;
  }
}

bool pai__pattern_make(pai__pattern *p, const char *text)
{
  maker m = { .p = p, .at = text };

  *p = (pai__pattern){ .folds = false };
  read_flags(&m);
  while (!m.bad && *m.at != '\0') {
    p->stop = (size_t)(m.at - text);
    read_next(&m);
  }
  end_run(&m);
  if (m.either)
    p->needs[0] = '\0';
  if (!m.bad && m.open > 0)
    p->stop = (size_t)(m.groups[m.open - 1] - text);
  return !m.bad && m.open == 0;
}
