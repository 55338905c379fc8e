/* output.c - keeps lines of tasks that write at the same time apart */
#include "output.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_LINE = 1 << 20 }; /* longer ones are cut into several */

static const char *const colors[] = { "\033[36m", "\033[33m", "\033[35m",
                                      "\033[32m", "\033[34m", "\033[31m" };

/* The number of a task in the job, roles in the order of the file. */
static size_t task_number(const pai_spec *spec, const char *role,
                          uint32_t index)
{
  size_t number = index;

  for (size_t r = 0; r < pai_spec_role_count(spec); r++) {
    if (strcmp(pai_spec_role_name(spec, r), role) == 0)
      break;
    number += pai_spec_role_instances(spec, r);
  }
  return number;
}

void cli_output_init(cli_output *out, const pai_spec *spec)
{
  *out = (cli_output){ .spec = spec, .ntasks = pai_spec_task_count(spec) };
  out->lines = calloc(out->ntasks * 2, sizeof(*out->lines));
  for (size_t r = 0; r < pai_spec_role_count(spec); r++) {
    int width = snprintf(NULL, 0, "%s[%u]", pai_spec_role_name(spec, r),
                         pai_spec_role_instances(spec, r) - 1);
    if (width > out->width)
      out->width = width;
  }
}

void cli_output_dispose(cli_output *out)
{
  for (size_t i = 0; out->lines != NULL && i < out->ntasks * 2; i++)
    free(out->lines[i].text);
  free(out->lines);
}

static void print_line(const cli_output *out, const char *role, uint32_t index,
                       const char *head, size_t head_len, const char *tail,
                       size_t tail_len)
{
  size_t number = task_number(out->spec, role, index);
  const char *color = colors[number % (sizeof(colors) / sizeof(colors[0]))];
  char name[300];

  (void)snprintf(name, sizeof(name), "%s[%u]", role, index);
  (void)fprintf(stdout, "%s%-*s |%s ", cli_style(stdout, color), out->width,
                name, cli_style(stdout, "\033[0m"));
  if (head_len > 0)
    (void)fwrite(head, 1, head_len, stdout);
  if (tail_len > 0)
    (void)fwrite(tail, 1, tail_len, stdout);
  (void)fputc('\n', stdout);
}

/* Keeps an unfinished line; false when memory is short. */
static bool keep(cli_line *line, const char *text, size_t len)
{
  if (line->len + len > line->cap) {
    size_t cap = (line->len + len) * 2;
    char *grown = realloc(line->text, cap);
    if (grown == NULL)
      return false;
    line->text = grown;
    line->cap = cap;
  }
  memcpy(line->text + line->len, text, len);
  line->len += len;
  return true;
}

void cli_output_add(cli_output *out, const char *role, uint32_t index,
                    int stream, const char *text, size_t len)
{
  size_t number = task_number(out->spec, role, index);
  cli_line none = { NULL, 0, 0 };
  cli_line *line =
    out->lines != NULL ? &out->lines[number * 2 + (stream == 2)] : &none;
  const char *newline;

  while ((newline = memchr(text, '\n', len)) != NULL) {
    size_t n = (size_t)(newline - text);
    print_line(out, role, index, line->text, line->len, text, n);
    line->len = 0;
    text += n + 1;
    len -= n + 1;
  }
  if (len > 0 && (line == &none || line->len + len > LONGEST_LINE ||
                  !keep(line, text, len))) {
    print_line(out, role, index, line->text, line->len, text, len);
    line->len = 0;
  }
  (void)fflush(stdout);
}

void cli_output_end_task(cli_output *out, const char *role, uint32_t index)
{
  size_t number = task_number(out->spec, role, index);

  for (size_t s = 0; out->lines != NULL && s < 2; s++) {
    cli_line *line = &out->lines[number * 2 + s];
    if (line->len > 0)
      print_line(out, role, index, line->text, line->len, "", 0);
    line->len = 0;
  }
  (void)fflush(stdout);
}

void cli_output_flush(cli_output *out)
{
  for (size_t r = 0; r < pai_spec_role_count(out->spec); r++)
    for (uint32_t i = 0; i < pai_spec_role_instances(out->spec, r); i++)
      cli_output_end_task(out, pai_spec_role_name(out->spec, r), i);
}
