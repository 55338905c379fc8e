/* mail.h - internal: the rule for mail addresses, the same for all rooms */
#ifndef PAI_SRC_BASE_MAIL_H
#define PAI_SRC_BASE_MAIL_H

#include "base/base.h"

/* A name of at most 64 bytes, an @ and a domain of at most 255, as Joi 13
 * accepts them.  "" is none. */
bool pai__is_mail(const char *text, size_t len);

#endif
