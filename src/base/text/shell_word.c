/* shell_word.c - quotes a text as one word of bash */
#include "base/text/shell_word.h"

void pai__put_word(pai__buf *out, const char *text)
{
  pai__buf_char(out, '\'');
  for (; *text != '\0'; text++)
    if (*text == '\'')
      pai__buf_str(out, "'\\''");
    else
      pai__buf_char(out, *text);
  pai__buf_char(out, '\'');
}
