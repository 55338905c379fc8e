/* output.c - printing the output of tasks that write at the same time */
#include "output.h"

#include "json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
    cli_line_free(&out->lines[i]);
  free(out->lines);
}

static cli_line *find_line(const cli_output *out, const cli_piece *p)
{
  size_t number = cli_task_number(out->spec, p->role, p->index);

  return &out->lines[number * 2 + (p->stream == 2)];
}

/* --- as lines ----------------------------------------------------------- */

/* Returns the label of a task, with its name in `name`; a single task has
 * none. */
static cli_label label_of(const cli_output *out, const cli_piece *p,
                          char name[300])
{
  (void)snprintf(name, 300, "%s[%u]", p->role, p->index);
  return (cli_label){ .name = out->ntasks > 1 ? name : NULL,
                      .width = out->width,
                      .number = cli_task_number(out->spec, p->role, p->index),
                      .to = out->to };
}

/* --- as JSON ------------------------------------------------------------ */

static void print_piece(const cli_piece *p, size_t len)
{
  cli_json_print(stdout,
                 "{\"event\":\"output\",\"time_us\":%lld,\"attempt\":%lld,"
                 "\"role\":%s,\"index\":%u,\"stream\":%d,\"text\":%.*s}\n",
                 (long long)p->time_us, (long long)p->attempt, p->role,
                 p->index, p->stream, (int)len, p->text);
}

/* Prints all but an incomplete character at the end. */
static void add_json(cli_line *kept, cli_piece p)
{
  size_t cut;

  if (kept->len > 0 && cli_line_keep(kept, p.text, p.len)) {
    p.text = kept->text;
    p.len = kept->len;
  }
  cut = cli_utf8_cut(p.text, p.len);
  if (p.len > cut)
    print_piece(&p, p.len - cut);
  kept->len = 0;
  if (cut > 0) /* dropped if memory is short */
    (void)cli_line_keep(kept, p.text + p.len - cut, cut);
}

/* --- unchanged ----------------------------------------------------------- */

/* Whether output is passed on byte for byte: that of a single task, if it is
 * not buffered to be shown above a block. */
static bool passes(const cli_output *out)
{
  return out->ntasks == 1 && !out->json && out->to == stdout;
}

static void pass(cli_output *out, const cli_piece *p)
{
  FILE *to = p->stream == 2 ? stderr : stdout;

  if (fwrite(p->text, 1, p->len, to) < p->len && to == stderr)
    out->lost = errno;
  if (cli_is_terminal(to))
    out->cut = p->text[p->len - 1] != '\n';
}

void cli_output_break(cli_output *out)
{
  if (out->cut && cli_is_terminal(stderr))
    (void)fputc('\n', stderr);
  out->cut = false;
}

/* --- both ---------------------------------------------------------------- */

void cli_output_add(cli_output *out, cli_piece p)
{
  char name[300];
  cli_label label;
  cli_line *kept;

  /* The task is not in the file: the role was rescaled. */
  if (cli_task_number(out->spec, p.role, p.index) >= out->ntasks)
    return;
  kept = find_line(out, &p);
  label = label_of(out, &p, name);
  if (p.len > 0 && passes(out))
    pass(out, &p);
  else if (out->json)
    add_json(kept, p);
  else
    cli_line_add(kept, &label, p.text, p.len);
  if (out->to == stdout)
    (void)cli_written();
}

static void end_task(const cli_output *out, cli_piece p)
{
  char name[300];
  cli_label label = label_of(out, &p, name);

  for (p.stream = 1; p.stream <= 2; p.stream++) {
    cli_line *kept = find_line(out, &p);

    if (!out->json) {
      cli_line_end(kept, &label);
    } else if (kept->len > 0) {
      p.text = kept->text;
      print_piece(&p, kept->len);
      kept->len = 0;
    }
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

unsigned cli_output_paint(const cli_output *out, FILE *to, unsigned width,
                          unsigned rows)
{
  unsigned printed = 0;
  char name[300];

  for (size_t r = 0; r < pai_spec_role_count(out->spec); r++)
    for (uint32_t i = 0; i < pai_spec_role_instances(out->spec, r); i++)
      for (int stream = 1; stream <= 2 && printed < rows; stream++) {
        cli_piece p = { .role = pai_spec_role_name(out->spec, r),
                        .index = i,
                        .stream = stream };
        cli_label label = label_of(out, &p, name);

        printed += cli_line_paint(to, find_line(out, &p), &label, width);
      }
  return printed;
}
