/* shell_word.h - quotes a text as one word of bash */
#ifndef PAI_SRC_BASE_TEXT_SHELL_WORD_H
#define PAI_SRC_BASE_TEXT_SHELL_WORD_H

#include "base/buf.h"

/* Appends the text in single quotes. */
void pai__put_word(pai__buf *out, const char *text);

#endif
