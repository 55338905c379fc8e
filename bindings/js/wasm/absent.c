/* absent.c - what a WebAssembly module lacks of the rooms */
#include <stdbool.h>
#include <stddef.h>

/* Patterns of the exit spec are searched with the system's regexec(), which
 * stops at a length. Without it no pattern is found, and a failure is
 * classified by its exit code and signal alone. */
int pai__pattern_find(void *out, const void *pattern, const char *text,
                      size_t len, bool last);

int pai__pattern_find(void *out, const void *pattern, const char *text,
                      size_t len, bool last)
{
  (void)out;
  (void)pattern;
  (void)text;
  (void)len;
  (void)last;
  return 0;
}
