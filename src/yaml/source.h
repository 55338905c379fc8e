/*
 * source.h - a YAML text on its way through libyaml
 *
 * Checks the text, hands libyaml what it can read, and finds the way back
 * from libyaml's marks, which count characters, to bytes of the text.
 *
 * What libyaml reads differs from the text where js-yaml is more patient: tabs
 * at the start of a line vanish, a tab that separates becomes a space, and
 * characters that libyaml refuses or takes for line breaks are replaced by
 * stand-ins from a private-use plane until the scalars are read.
 */
#ifndef PAI_SRC_YAML_SOURCE_H
#define PAI_SRC_YAML_SOURCE_H

#include "base/tree.h"

#include <yaml.h>

/* From the byte `fed` of what libyaml reads on, the text goes on at `text`. */
typedef struct pai__yaml_edit {
  uint32_t fed, text;
} pai__yaml_edit;

typedef struct pai__yaml_source {
  const pai__tree *tree; /* owns the text */
  const pai_alloc *alloc;
  const char *fed; /* what libyaml reads: the text, or a copy */
  size_t len;
  char *copy; /* NULL, or the block of copy_size that fed is in */
  size_t copy_size;
  pai__yaml_edit *edits;
  size_t nedits, edit_cap;
  bool bytes;              /* marks count bytes of fed, not characters */
  bool everyday;           /* no carriage returns, nothing odd */
  char stand_in[4];        /* three bytes that stand-ins begin with, or "" */
  size_t read;             /* bytes of fed that libyaml has */
  size_t at_char, at_byte; /* where the last mark was in fed */
} pai__yaml_source;

/* Refuses bad UTF-8 and control characters. */
int pai__yaml_source_init(pai__yaml_source *s, const pai__tree *tree,
                          pai_error **err);
void pai__yaml_source_dispose(pai__yaml_source *s);

/* Hands the text to a fresh parser, with a line end behind it if it has none:
 * js-yaml reads it so. */
void pai__yaml_feed(pai__yaml_source *s, yaml_parser_t *parser);

/* The byte of fed that a mark's index leads to, and the byte of the text
 * behind one. */
size_t pai__yaml_fed_byte(pai__yaml_source *s, size_t index);
size_t pai__yaml_text_byte(const pai__yaml_source *s, size_t fed);

/* The byte of the text that a mark's index leads to. */
static inline uint32_t pai__yaml_offset(pai__yaml_source *s, size_t index)
{
  if (s->bytes && s->nedits == 0)
    return (uint32_t)(index < s->len ? index : s->len);
  return (uint32_t)pai__yaml_text_byte(s, pai__yaml_fed_byte(s, index));
}

/* One change to what libyaml reads. */
typedef enum pai__yaml_change_kind {
  PAI__CHANGE_DROP,    /* n bytes are left out */
  PAI__CHANGE_SPACE,   /* a tab becomes a space */
  PAI__CHANGE_COMMENT, /* a tab on a line of blanks becomes a comment */
  PAI__CHANGE_STAND_IN /* a tab becomes a stand-in, to stay a tab */
} pai__yaml_change_kind;

typedef struct pai__yaml_change {
  size_t at, n;
  pai__yaml_change_kind kind;
} pai__yaml_change;

/* Makes sure that there can be stand-ins; false when the text defies it. */
bool pai__yaml_choose_stand_in(pai__yaml_source *s);

/* Makes changes, which are in order.  PAI_OK or PAI_ENOMEM. */
int pai__yaml_rewrite(pai__yaml_source *s, const pai__yaml_change *changes,
                      size_t n);

/* Changes the tabs that libyaml stumbles over, of which the mark `index`
 * may be the first (tabs.c).  *changed says that it is worth a new try. */
int pai__yaml_take_tabs(pai__yaml_source *s, size_t index, bool *changed);

/* Puts the true characters back into a scalar, which gets no longer; returns
 * its length.  *odd is the first that only a quoted scalar may have, or 0. */
size_t pai__yaml_restore(const pai__yaml_source *s, char *text, size_t len,
                         uint32_t *odd);

#endif
