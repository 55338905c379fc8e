/* output.c - keeps what tasks write at the same time apart */
#include "output.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_LINE = 1 << 20 }; /* longer ones are cut into several */

static const char *const colors[] = { "\033[36m", "\033[33m", "\033[35m",
                                      "\033[32m", "\033[34m", "\033[31m" };

size_t cli_task_number(const pai_spec *spec, const char *role, uint32_t index)
{
  size_t number = index;

  for (size_t r = 0; r < pai_spec_role_count(spec); r++) {
    if (strcmp(pai_spec_role_name(spec, r), role) == 0)
      break;
    number += pai_spec_role_instances(spec, r);
  }
  return number;
}

bool cli_output_init(cli_output *out, const pai_spec *spec, bool json)
{
  *out = (cli_output){ .spec = spec,
                       .json = json,
                       .to = stdout,
                       .ntasks = pai_spec_task_count(spec) };
  out->lines = calloc(out->ntasks * 2, sizeof(*out->lines));
  for (size_t r = 0; r < pai_spec_role_count(spec); r++) {
    int width = snprintf(NULL, 0, "%s[%u]", pai_spec_role_name(spec, r),
                         pai_spec_role_instances(spec, r) - 1);
    if (width > out->width)
      out->width = width;
  }
  return out->lines != NULL;
}

void cli_output_dispose(cli_output *out)
{
  for (size_t i = 0; out->lines != NULL && i < out->ntasks * 2; i++)
    free(out->lines[i].text);
  free(out->lines);
}

static cli_line *find_line(const cli_output *out, const cli_piece *p)
{
  size_t number = cli_task_number(out->spec, p->role, p->index);

  return &out->lines[number * 2 + (p->stream == 2)];
}

/* Keeps what cannot be shown yet; false when memory is short.  `text` may be
 * the end of what is kept already. */
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
  memmove(line->text + line->len, text, len);
  line->len += len;
  return true;
}

/* --- as lines ----------------------------------------------------------- */

/* Prints what was kept and `len` bytes of the piece as one line. */
static void print_line(const cli_output *out, cli_line *kept,
                       const cli_piece *p, size_t len)
{
  size_t number = cli_task_number(out->spec, p->role, p->index);
  const char *color = colors[number % (sizeof(colors) / sizeof(colors[0]))];
  char name[300];

  (void)snprintf(name, sizeof(name), "%s[%u]", p->role, p->index);
  (void)fprintf(out->to, "%s%-*s |%s ", cli_style(stdout, color), out->width,
                name, cli_style(stdout, "\033[0m"));
  if (kept->len > 0)
    (void)fwrite(kept->text, 1, kept->len, out->to);
  if (len > 0)
    (void)fwrite(p->text, 1, len, out->to);
  (void)fputc('\n', out->to);
  kept->len = 0;
}

static void add_lines(const cli_output *out, cli_line *kept, cli_piece p)
{
  const char *newline;

  while ((newline = memchr(p.text, '\n', p.len)) != NULL) {
    size_t n = (size_t)(newline - p.text);
    print_line(out, kept, &p, n);
    p.text += n + 1;
    p.len -= n + 1;
  }
  if (p.len > 0 &&
      (kept->len + p.len > LONGEST_LINE || !keep(kept, p.text, p.len)))
    print_line(out, kept, &p, p.len);
}

/* --- as JSON ------------------------------------------------------------ */

static void print_piece(const cli_piece *p, size_t len)
{
  (void)printf("{\"event\":\"output\",\"time_us\":%lld,\"attempt\":%lld,"
               "\"role\":",
               (long long)p->time_us, (long long)p->attempt);
  cli_json_string(stdout, p->role, strlen(p->role));
  (void)printf(",\"index\":%u,\"stream\":%d,\"text\":", p->index, p->stream);
  cli_json_string(stdout, p->text, len);
  (void)printf("}\n");
}

/* Prints all but a character whose last bytes are still to come. */
static void add_json(cli_line *kept, cli_piece p)
{
  size_t cut;

  if (kept->len > 0 && keep(kept, p.text, p.len)) {
    p.text = kept->text;
    p.len = kept->len;
  }
  cut = cli_utf8_cut(p.text, p.len);
  if (p.len > cut)
    print_piece(&p, p.len - cut);
  kept->len = 0;
  if (cut > 0) /* it is lost when memory is short */
    (void)keep(kept, p.text + p.len - cut, cut);
}

/* --- either ------------------------------------------------------------- */

void cli_output_add(cli_output *out, cli_piece p)
{
  cli_line *kept;

  /* A task that the file does not have: the job was made larger. */
  if (cli_task_number(out->spec, p.role, p.index) >= out->ntasks)
    return;
  kept = find_line(out, &p);
  if (out->json)
    add_json(kept, p);
  else
    add_lines(out, kept, p);
  if (out->to == stdout)
    (void)cli_written();
}

static void end_task(const cli_output *out, cli_piece p)
{
  for (p.stream = 1; p.stream <= 2; p.stream++) {
    cli_line *kept = find_line(out, &p);

    if (kept->len == 0)
      continue;
    p.text = kept->text;
    p.len = 0;
    if (out->json)
      print_piece(&p, kept->len);
    else
      print_line(out, kept, &p, 0);
    kept->len = 0;
  }
}

void cli_output_end(cli_output *out, const cli_piece *of)
{
  cli_piece p = *of;

  if (of->role != NULL &&
      cli_task_number(out->spec, p.role, p.index) < out->ntasks)
    end_task(out, p);
  for (size_t r = 0; of->role == NULL && r < pai_spec_role_count(out->spec);
       r++)
    for (p.index = 0; p.index < pai_spec_role_instances(out->spec, r);
         p.index++) {
      p.role = pai_spec_role_name(out->spec, r);
      end_task(out, p);
    }
  if (out->to == stdout)
    (void)cli_written();
}
