/*
 * quick.h - everyday texts read without libyaml
 *
 * Gives the loader the events that libyaml would give, or gives up: it never
 * decides that a text is wrong, nor what anything means.  ADR 0003.
 */
#ifndef PAI_SRC_YAML_QUICK_H
#define PAI_SRC_YAML_QUICK_H

#include "yaml/load.h"

/* Takes all events of the document.  PAI_OK; PAI_ENOMEM; else libyaml must
 * read the text from its beginning, and will tell what is wrong with it, if
 * anything is.  *l->err is not set. */
int pai__yaml_quick(pai__yaml_loader *l);

/* --- quick_scalar.c ----------------------------------------------------- */

enum {
  PAI__QUICK_GIVE_UP = PAI_EINVAL,
  PAI__QUICK_LEVELS = 64 /* deeper than that is not for every day */
};

typedef enum pai__quick_kind {
  PAI__QUICK_ROOT,
  PAI__QUICK_SEQUENCE,
  PAI__QUICK_INDENTLESS, /* a sequence at the column of its mapping */
  PAI__QUICK_MAPPING,
  PAI__QUICK_BRACKETS,
  PAI__QUICK_BRACES
} pai__quick_kind;

/* A collection whose end has not come; the first one is the document. */
typedef struct pai__quick_level {
  pai__quick_kind kind;
  ptrdiff_t column;  /* not of brackets */
  const char *empty; /* where the value that comes next is if there is none;
                        NULL if none comes */
} pai__quick_level;

typedef struct pai__quick {
  pai__yaml_loader *l;
  const char *text, *end; /* NULs follow */
  const char *at;
  const char *line; /* the one of `at` begins here */
  bool compact;     /* a block collection may begin here */
  size_t depth;
  pai__quick_level levels[PAI__QUICK_LEVELS];
  /* The last scalar. */
  char *value; /* has room for the text, a line feed and a NUL */
  size_t len;
  const char *from, *to;
  yaml_scalar_style_t style;
  yaml_event_t event; /* no anchors, no tags: zeros but for what is set */
} pai__quick;

/* Whether a character ends a ':', a '-' or a "---" before it. */
static inline bool pai__quick_gap(char c)
{
  return c == ' ' || c == '\n' || c == '\t' || c == '\0';
}

static inline const char *pai__quick_spaces(const char *p)
{
  while (*p == ' ')
    p++;
  return p;
}

/* Goes to the next thing there is, over comments; says whether it is the first
 * of its line. */
bool pai__quick_next(pai__quick *q);

/* These read a scalar: a plain or quoted one on its line, which says whether
 * brackets are around it, the further lines of a plain one, and a block
 * scalar. */
int pai__quick_scalar(pai__quick *q, bool flow);
int pai__quick_more_lines(pai__quick *q);
int pai__quick_block(pai__quick *q);

/* Whether the scalar is a key; goes behind the colon. */
bool pai__quick_colon(pai__quick *q, bool flow);

#endif
