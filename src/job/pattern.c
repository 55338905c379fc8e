/* pattern.c - patterns become steps; pattern_find.c takes them */
#include "job/pattern.h"

#include "job/pattern_steps.h"

typedef struct maker {
  pai__pattern *p;
  const char *at;
  int depth;     /* of groups */
  int run, nrun; /* the text that is being read, outside groups */
  bool bad;
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
  if (strncmp(m->at, "(?", 2) != 0)
    return;
  for (m->at += 2; *m->at == 'i' || *m->at == 'm'; m->at++)
    if (*m->at == 'i')
      m->p->folds = true;
    else
      m->p->lines = true;
  m->bad |= *m->at != ')';
  m->at += *m->at == ')';
}

static void read_set(maker *m)
{
  pai__pattern *p = m->p;
  int number = p->nsets;

  m->bad |= number == PAI__PATTERN_SETS || *m->at == ']' || *m->at == '^';
  for (; !m->bad && *m->at != ']'; m->at++) {
    m->bad |= *m->at == '\0' || *m->at == '\\' || *m->at == '-';
    p->sets[number][pai__pattern_fold(p, *m->at)] = 1;
  }
  if (m->bad)
    return;
  m->at++;
  p->nsets++;
  put(m, PAI__STEP_SET, (uint8_t)number, 0);
}

static void read_group(maker *m)
{
  m->depth++;
  m->bad |= m->depth > 4;
  if (!m->bad)
    read_either(m);
  m->bad |= *m->at != ')';
  m->at += *m->at == ')';
  m->depth--;
}

static void read_escape(maker *m)
{
  char c = *m->at;

  m->bad |= c == '\0';
  m->at += c != '\0';
  if (c == 'S')
    put(m, PAI__STEP_NO_SPACE, 0, 0);
  else if (strchr("\\.+*?()|[]{}^$", c) != NULL)
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
  int atom = m->p->len;
  char c = *m->at++;

  m->bad |= (unsigned char)c >= 0x80;
  if (strchr(".[(^$", c) != NULL || (c == '\\' && *m->at == 'S'))
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
  return !m.bad && *m.at == '\0';
}
