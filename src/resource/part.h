/* part.h - internal: a part of something, in hundredths of a percent */
#ifndef PAI_SRC_RESOURCE_PART_H
#define PAI_SRC_RESOURCE_PART_H

#include "base/base.h"

enum {
  PAI__WHOLE = 10000,
  PAI__PART_TEXT = 16 /* bytes of one as a text */
};

/* "25%" or "33.33%".  False: it is none, or more than the whole. */
bool pai__part_parse(uint32_t *out, const char *s, size_t len);
void pai__part_text(char *out, uint32_t part);

#endif
