/* file.c - reads and writes files, standard input and output among them */
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 65536 };

const char *cli_shown_name(const char *name)
{
  return strcmp(name, "-") == 0 ? "<stdin>" : name;
}

/* All of a stream, up to `most` bytes; returns 0 or an errno. */
static int read_stream(char **text, size_t *len, FILE *in, size_t most)
{
  size_t cap = 0, n;

  do {
    if (*len == cap) {
      char *more = realloc(*text, cap + cap / 2 + CHUNK);
      if (more == NULL)
        return ENOMEM;
      *text = more;
      cap += cap / 2 + CHUNK;
    }
    n = cap - *len < most - *len ? cap - *len : most - *len;
    n = fread(*text + *len, 1, n, in);
    *len += n;
  } while (n > 0 && !feof(in));
  if (!ferror(in))
    return 0;
  return errno != 0 ? errno : EIO;
}

int cli_read_file(char **text, size_t *len, const char *name, size_t most)
{
  FILE *in = stdin;
  int error;

  errno = 0;
  if (strcmp(name, "-") != 0)
    in = fopen(name, "rb");
  if (in == NULL)
    return errno;
  (void)setvbuf(in, NULL, _IONBF, 0); /* chunks need no buffer in between */
  error = read_stream(text, len, in, most + 1);
  if (in != stdin)
    (void)fclose(in);
  return error;
}

void cli_read_why(char *out, size_t size, const char *name, int error)
{
  (void)snprintf(out, size, "cannot read %s: %s",
                 strcmp(name, "-") == 0 ? "standard input" : name,
                 strerror(error));
}

int cli_save(const char *name, const char *text, size_t len)
{
  FILE *out;
  int error = 0;

  if (strcmp(name, "-") == 0) {
    (void)cli_write(stdout, text, len);
    return CLI_OK;
  }
  errno = 0;
  out = fopen(name, "wb");
  if (out == NULL || fwrite(text, 1, len, out) != len)
    error = errno;
  if (out != NULL && fclose(out) != 0 && error == 0)
    error = errno;
  if (error == 0)
    return CLI_OK;
  cli_fail("cannot write %s: %s", name, strerror(error));
  return CLI_NO;
}
