/* part.h - internal: a fraction of a whole, in hundredths of a percent */
#ifndef PAI_SRC_RESOURCE_PART_H
#define PAI_SRC_RESOURCE_PART_H

#include "base/base.h"

enum {
  PAI__WHOLE = 10000,
  PAI__PART_TEXT = 16 /* buffer size of pai__part_text() */
};

/* Parses "25%" or "33.33%".  Returns false if the text is not a percentage, or
 * is above 100%. */
bool pai__part_parse(uint32_t *out, const char *s, size_t len);
void pai__part_text(char *out, uint32_t part);

#endif
