/* pattern.c - patterns become steps; pattern_find.c takes them */
#include "job/pattern.h"

#include "job/pattern_steps.h"

typedef struct maker {
  pai__pattern *p;
  const char *at;
  int depth;     /* of groups */
  int run, nrun; /* the text that is being read, outside groups */
  bool bad;
  const char *mistake; /* the atom that is none; or NULL */
} maker;

static void put(maker *m, uint8_t op, uint8_t byte, int to)
{
  pai__pattern *p = m->p;

  if (p->len == PAI__PATTERN_STEPS) {
    m->bad = true;
    return;
  }
  p->steps[p->len++] = (pai__pattern_step){ op, byte, (int16_t)to };
}

/* Puts a step before those from `at` on: all goes from where it is, so what
 * has been made stays right. */
static void insert(maker *m, int at, uint8_t op, int to)
{
  pai__pattern *p = m->p;

  put(m, op, 0, to);
  if (m->bad)
    return;
  memmove(&p->steps[at + 1], &p->steps[at],
          (size_t)(p->len - 1 - at) * sizeof(*p->steps));
  p->steps[at] = (pai__pattern_step){ op, 0, (int16_t)to };
}

/* --- what each match contains ----------------------------------------------- */

static void end_run(maker *m)
{
  if (m->nrun > m->p->nneeds) {
    m->p->needs = m->run;
    m->p->nneeds = m->nrun;
  }
  m->nrun = 0;
}

static void put_text(maker *m, char c)
{
  if (m->depth == 0 && m->nrun++ == 0)
    m->run = m->p->len;
  put(m, PAI__STEP_BYTE, pai__pattern_fold(m->p, c), 0);
}

/* --- reading ------------------------------------------------------------------ */

static void read_either(maker *m);

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

/* --- sets ------------------------------------------------------------------- */

static void add_range(maker *m, uint8_t *set, char first, char last)
{
  m->bad |= first > last;
  for (int c = (unsigned char)first; !m->bad && c <= (unsigned char)last;
       c++) {
    uint8_t byte = pai__pattern_fold(m->p, (char)c);

    set[byte / 8] |= (uint8_t)(1 << byte % 8);
  }
}

static void add_all(maker *m, uint8_t *set, const char *chars)
{
  for (; *chars != '\0'; chars++)
    add_range(m, set, *chars, *chars);
}

static void invert(uint8_t *set)
{
  for (int i = 0; i < 256 / 8; i++)
    set[i] = (uint8_t)~set[i];
}

/* What \d, \s or \w stands for; false: it is none of them. */
static bool add_class(maker *m, uint8_t *set, char name)
{
  if (name == 's')
    add_all(m, set, "\t\n\f\r ");
  else if (name == 'd' || name == 'w')
    add_range(m, set, '0', '9');
  else
    return false;
  if (name == 'w') {
    add_range(m, set, 'a', 'z');
    add_range(m, set, 'A', 'Z');
    add_range(m, set, '_', '_');
  }
  return true;
}

/* A set of its own, or NULL. */
static uint8_t *put_set(maker *m)
{
  pai__pattern *p = m->p;

  m->bad |= p->nsets == PAI__PATTERN_SETS;
  if (m->bad)
    return NULL;
  put(m, PAI__STEP_SET, (uint8_t)p->nsets, 0);
  return p->sets[p->nsets++];
}

/* One character of a set, for itself; 0: there is none. */
static char read_member(maker *m)
{
  bool escaped = *m->at == '\\';

  m->at += escaped;
  m->bad |= *m->at == '\0' || (unsigned char)*m->at >= 0x80 ||
            (escaped && strchr("\\.+*?()|[]{}^$-/'\"", *m->at) == NULL);
  return m->bad ? '\0' : *m->at++;
}

static void read_members(maker *m, uint8_t *set)
{
  char first, last;

  if (*m->at == '\\' && add_class(m, set, m->at[1])) {
    m->at += 2;
    return;
  }
  first = last = read_member(m);
  if (!m->bad && *m->at == '-' && m->at[1] != ']') {
    m->at++;
    last = read_member(m);
  }
  if (!m->bad)
    add_range(m, set, first, last);
}

static void read_set(maker *m)
{
  bool all_but = *m->at == '^';
  uint8_t *set = put_set(m);

  m->at += all_but;
  m->bad |= *m->at == ']';
  while (!m->bad && *m->at != ']')
    read_members(m, set);
  if (m->bad)
    return;
  m->at++;
  if (all_but)
    invert(set);
}

/* --- groups and atoms ------------------------------------------------------- */

/* What the first few groups match is told, but for (?:...). */
static void read_group(maker *m)
{
  bool told = strncmp(m->at, "?:", 2) != 0;
  int number = 2 * m->p->ngroups;

  m->depth++;
  m->bad |= m->depth > 4;
  if (!told)
    m->at += 2;
  told = told && m->p->ngroups < PAI__PATTERN_GROUPS;
  if (told) {
    m->p->ngroups++;
    put(m, PAI__STEP_MARK, (uint8_t)number, 0);
  }
  if (!m->bad)
    read_either(m);
  if (told)
    put(m, PAI__STEP_MARK, (uint8_t)(number + 1), 0);
  m->bad |= *m->at != ')';
  m->at += *m->at == ')';
  m->depth--;
}

static void read_escape(maker *m)
{
  char c = *m->at;
  uint8_t *set;

  m->bad |= c == '\0';
  m->at += c != '\0';
  if (!m->bad && strchr("dsSw", c) != NULL) {
    set = put_set(m);
    if (set != NULL)
      (void)add_class(m, set, c == 'S' ? 's' : c);
    if (set != NULL && c == 'S')
      invert(set);
  } else if (strchr("\\.+*?()|[]{}^$-/'\"", c) != NULL)
    put_text(m, c);
  else
    m->bad = true;
}

static void read_repeat(maker *m, int atom)
{
  int len = m->p->len - atom;
  bool is_text = m->nrun > 0 && m->p->steps[atom].op == PAI__STEP_BYTE;

  if (*m->at == '\0' || strchr("*+?", *m->at) == NULL)
    return;
  if (is_text && *m->at != '+')
    m->nrun--; /* it need not be there */
  end_run(m);
  switch (*m->at++) {
  case '*':
    insert(m, atom, PAI__STEP_SPLIT, len + 2);
    put(m, PAI__STEP_GO, 0, -(len + 1));
    break;
  case '+': put(m, PAI__STEP_AGAIN, 0, -len); break;
  default: insert(m, atom, PAI__STEP_SPLIT, len + 1); break;
  }
}

static void read_atom(maker *m)
{
  const char *start = m->at;
  int atom = m->p->len;
  char c = *m->at++;

  m->bad |= (unsigned char)c >= 0x80;
  if (strchr(".[(^$", c) != NULL ||
      (c == '\\' && *m->at != '\0' && strchr("dsSw", *m->at) != NULL))
    end_run(m);
  switch (c) {
  case '.': put(m, PAI__STEP_ANY, 0, 0); break;
  case '[': read_set(m); break;
  case '(': read_group(m); break;
  case '\\': read_escape(m); break;
  case '^': put(m, PAI__STEP_START, 0, 0); break;
  case '$': put(m, PAI__STEP_END, 0, 0); break;
  case '*':
  case '+':
  case '?': m->bad = true; break;
  default: put_text(m, c); break;
  }
  if (!m->bad)
    read_repeat(m, atom);
  if (m->bad && m->mistake == NULL)
    m->mistake = start;
}

static void read_either(maker *m)
{
  int first = m->p->len;

  while (!m->bad && *m->at != '\0' && *m->at != '|' && *m->at != ')')
    read_atom(m);
  if (m->bad || *m->at != '|')
    return;
  m->at++;
  m->bad |= m->depth == 0; /* then nothing were in each match */
  insert(m, first, PAI__STEP_SPLIT, m->p->len - first + 2);
  if (!m->bad) {
    int go = m->p->len;

    put(m, PAI__STEP_GO, 0, 0);
    read_either(m);
    m->p->steps[go].to = (int16_t)(m->p->len - go);
  }
}

bool pai__pattern_make(pai__pattern *p, const char *text)
{
  maker m = { .p = p, .at = text };

  *p = (pai__pattern){ .len = 0 };
  read_flags(&m);
  if (!m.bad)
    read_either(&m);
  end_run(&m);
  put(&m, PAI__STEP_DONE, 0, 0);
  p->stop = (size_t)((m.mistake != NULL ? m.mistake : m.at) - text);
  return !m.bad && *m.at == '\0';
}
