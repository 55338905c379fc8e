/*
 * source.h - feeds a YAML text to libyaml, and maps its marks back to the text
 *
 * Checks the text, gives libyaml a form that it can parse, and converts
 * libyaml's marks, which count characters, to bytes of the text.
 *
 * libyaml rejects some text that js-yaml accepts.  The fed text therefore
 * differs: tabs at the start of a line are dropped, a separating tab becomes a
 * space, and characters that libyaml refuses or takes for line breaks become
 * stand-ins from a private-use plane.  pai__yaml_restore() undoes the
 * stand-ins in scalars.
 */
#ifndef PAI_SRC_YAML_SOURCE_H
#define PAI_SRC_YAML_SOURCE_H

#include "base/tree.h"

#include <yaml.h>

/* From byte `fed` of the fed text on, the text continues at byte `text`. */
typedef struct pai__yaml_edit {
  uint32_t fed, text;
} pai__yaml_edit;

typedef struct pai__yaml_source {
  const pai__tree *tree; /* owner of the text */
  const pai_alloc *alloc;
  const char *fed; /* what libyaml parses: the text, or a copy */
  size_t len;
  char *copy; /* the allocated block of copy_size bytes that fed is in, or
                 NULL */
  size_t copy_size;
  pai__yaml_edit *edits;
  size_t nedits, edit_cap;
  bool bytes;              /* marks count bytes of fed rather than
                              characters */
  char stand_in[4];        /* first three bytes of a stand-in, or "" */
  size_t read;             /* bytes of fed that libyaml has taken */
  size_t at_char, at_byte; /* character and byte of the last mark in fed */
} pai__yaml_source;

/* Prepares a text.  Fails for invalid UTF-8 and control characters. */
int pai__yaml_source_init(pai__yaml_source *s, const pai__tree *tree,
                          pai_error **err);
void pai__yaml_source_dispose(pai__yaml_source *s);

/* Gives the text to a fresh parser.  A line end is added if the last line
 * lacks one, as js-yaml does. */
void pai__yaml_feed(pai__yaml_source *s, yaml_parser_t *parser);

/* Gives libyaml more bytes, from `read` on: yaml_read_handler_t. */
int pai__yaml_give(void *data, unsigned char *buffer, size_t size,
                   size_t *size_read);

/* The byte of fed at a mark's index, and the byte of the text for a byte of
 * fed. */
size_t pai__yaml_fed_byte(pai__yaml_source *s, size_t index);
size_t pai__yaml_text_byte(const pai__yaml_source *s, size_t fed);

/* Returns the byte of the text at a mark's index. */
static inline uint32_t pai__yaml_offset(pai__yaml_source *s, size_t index)
{
  if (s->bytes && s->nedits == 0)
    return (uint32_t)(index < s->len ? index : s->len);
  return (uint32_t)pai__yaml_text_byte(s, pai__yaml_fed_byte(s, index));
}

/* A kind of change to the fed text. */
typedef enum pai__yaml_change_kind {
  PAI__CHANGE_DROP,    /* drops n bytes */
  PAI__CHANGE_SPACE,   /* replaces a tab by a space */
  PAI__CHANGE_COMMENT, /* makes a comment of a tab on a blank line */
  PAI__CHANGE_STAND_IN /* replaces a tab by a stand-in, so that it stays a
                          tab */
} pai__yaml_change_kind;

typedef struct pai__yaml_change {
  size_t at, n;
  pai__yaml_change_kind kind;
} pai__yaml_change;

/* Chooses bytes for stand-ins that the text does not contain.  Returns false
 * if there are none. */
bool pai__yaml_choose_stand_in(pai__yaml_source *s);

/* Applies changes, which must be in order.  Returns PAI_OK or PAI_ENOMEM. */
int pai__yaml_rewrite(pai__yaml_source *s, const pai__yaml_change *changes,
                      size_t n);

/* Changes the tabs that libyaml refuses (tabs.c).  `index` is the mark at
 * which libyaml failed.  *changed says that parsing is worth another try. */
int pai__yaml_take_tabs(pai__yaml_source *s, size_t index, bool *changed);

/* Puts the original characters back into a scalar, which never gets longer.
 * Returns its new length.  *odd is the first character that only a quoted
 * scalar may have, or 0. */
size_t pai__yaml_restore(const pai__yaml_source *s, char *text, size_t len,
                         uint32_t *odd);

#endif
