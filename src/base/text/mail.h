/* mail.h - internal: checks mail addresses */
#ifndef PAI_SRC_BASE_TEXT_MAIL_H
#define PAI_SRC_BASE_TEXT_MAIL_H

#include "base/base.h"

/* Returns whether the text is a name of at most 64 bytes, an @ and a domain of
 * at most 255, as Joi 13 accepts them.  "" is not. */
bool pai__is_mail(const char *text, size_t len);

#endif
