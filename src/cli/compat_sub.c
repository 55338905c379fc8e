/* compat_sub.c - jobs that `opai` makes of a command: job sub, and the file of
 * a notebook's */
#include "compat.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NUMBER = 1000 * 1000 * 1000, CHANCE = 10 };

/* --- what was given ---------------------------------------------------------------------- */

typedef struct wishes {
  const char *image, *vc, *python;
  long long cpu, gpu, memory;
} wishes;

/* A number, with a unit behind it if that is memory.  False, and told. */
static bool read_number(const cli_old *old, int option, long long least,
                        long long *out)
{
  const char *text = cli_old_value(old, option);
  long long times = 1, n;
  char *unit;

  if (text == NULL)
    return true;
  n = strtoll(text, &unit, 10);
  if (option == OLD_MEM && (*unit == 'g' || *unit == 'G'))
    times = 1024;
  if (option == OLD_MEM && *unit != '\0' && strchr("gGmM", *unit) != NULL)
    unit += unit[1] == 'b' || unit[1] == 'B' ? 2 : 1;
  if (unit == text || *unit != '\0' || n < least || n > MOST_NUMBER / times) {
    (void)cli_old_refuse(
      old, option == OLD_MEM ? "--mem is as 8g or 32GB" : "not a valid number",
      text);
    return false;
  }
  *out = n * times;
  return true;
}

static bool read_wishes(const cli_old *old, wishes *w)
{
  *w = (wishes){ .image = cli_old_value(old, OLD_IMAGE),
                 .vc = cli_old_value(old, OLD_VC),
                 .python = old->value[OLD_PYTHON],
                 .cpu = 2,
                 .memory = 4096 };
  if (w->image == NULL) {
    (void)cli_old_refuse(old, "must specify a docker image", "--image");
    return false;
  }
  if (w->python == NULL)
    w->python = "python";
  return read_number(old, OLD_CPU, 1, &w->cpu) &&
         read_number(old, OLD_GPU, 0, &w->gpu) &&
         read_number(old, OLD_MEMORY_MB, 1, &w->memory) &&
         /* What is given goes before a setting of the other. */
         ((old->value[OLD_MEMORY_MB] != NULL && old->value[OLD_MEM] == NULL) ||
          read_number(old, OLD_MEM, 1, &w->memory));
}

/* Those of the settings and those given, up to so many. */
static size_t collect(const cli_old *old, int option, const char **out,
                      size_t most)
{
  size_t n = 0;
  const char *value;

  while (n < most && (value = cli_old_setting(option, n)) != NULL)
    out[n++] = value;
  for (size_t i = 0; i < old->nlisted && n < most; i++)
    if (old->listed[i].option == option)
      out[n++] = old->listed[i].value;
  return n;
}

/* --- the file ------------------------------------------------------------------------------ */

static void put_item(cli_text *t, const char *text)
{
  if (t->more)
    (void)fputc(',', t->out);
  cli_json_string(t->out, text, strlen(text));
  t->more = true;
}

static void put_begin(cli_text *t, const char *name)
{
  cli_put_key(t, name);
  (void)fputc('[', t->out);
  t->more = false;
}

static void put_end(cli_text *t)
{
  (void)fputc(']', t->out);
  t->more = true;
}

static void put_number(cli_text *t, const char *name, long long n)
{
  cli_put_key(t, name);
  (void)fprintf(t->out, "%lld", n);
}

static void put_parts(cli_text *t, const wishes *w, const cli_old_wish *wish)
{
  put_begin(t, "prerequisites");
  cli_put_object(t);
  cli_put_text(t, "name", "docker_image");
  cli_put_text(t, "type", "dockerimage");
  cli_put_text(t, "uri", w->image);
  cli_put_end(t);
  put_end(t);
  cli_put_key(t, "parameters");
  cli_put_object(t);
  cli_put_text(t, "python_path", w->python);
  cli_put_text(t, "notebook_file", wish->notebook);
  cli_put_end(t);
  if (wish->token == NULL)
    return;
  cli_put_key(t, "secrets");
  cli_put_object(t);
  cli_put_text(t, "token", wish->token);
  cli_put_end(t);
}

static void put_role(cli_text *t, const wishes *w, const cli_old_wish *wish)
{
  cli_put_key(t, "taskRoles");
  cli_put_object(t);
  cli_put_key(t, "main");
  cli_put_object(t);
  put_number(t, "instances", 1);
  cli_put_text(t, "dockerImage", "docker_image");
  cli_put_key(t, "resourcePerInstance");
  cli_put_object(t);
  put_number(t, "cpu", w->cpu);
  put_number(t, "memoryMB", w->memory);
  put_number(t, "gpu", w->gpu);
  if (wish->token != NULL) {
    cli_put_key(t, "ports");
    cli_put_object(t);
    put_number(t, "jupyter", 1);
    cli_put_end(t);
  }
  cli_put_end(t);
  put_begin(t, "commands");
  for (size_t i = 0; i < wish->ncommands; i++)
    put_item(t, wish->commands[i]);
  put_end(t);
  cli_put_end(t);
  cli_put_end(t);
}

/* What is run before: packages for Python. */
static void put_installs(cli_text *t, const cli_old_wish *wish,
                         const char *const *pips, size_t n)
{
  char line[4096];

  cli_put_key(t, "deployments");
  (void)fputs("[{\"name\":\"sdk_deployment\",\"taskRoles\":{\"main\":{"
              "\"preCommands\":[",
              t->out);
  t->more = false;
  for (size_t i = 0; i < n; i++) {
    (void)snprintf(line, sizeof(line),
                   "<%% $parameters.python_path %%> -m pip install %s",
                   pips[i]);
    put_item(t, line);
  }
  if (wish->jupyter)
    put_item(t, "command -v jupyter > /dev/null || <% "
                "$parameters.python_path %> -m pip install jupyter");
  (void)fputs("]}}}]", t->out);
  t->more = true;
}

static void put_rest(cli_text *t, const wishes *w, const cli_old_wish *wish,
                     bool installs)
{
  if (installs || w->vc != NULL) {
    cli_put_key(t, "defaults");
    cli_put_object(t);
    cli_put_text(t, "virtualCluster", w->vc);
    cli_put_text(t, "deployment", installs ? "sdk_deployment" : NULL);
    cli_put_end(t);
  }
  cli_put_key(t, "extras");
  cli_put_object(t);
  put_begin(t, "tags");
  put_item(t, "py-sdk");
  put_item(t, "py-sdk-one-liner");
  if (wish->tag != NULL)
    put_item(t, wish->tag);
  put_end(t);
  cli_put_end(t);
}

static char *write_job(const cli_old *old, const wishes *w,
                       const cli_old_wish *wish)
{
  const char *pips[OLD_MOST_LISTED];
  size_t n = collect(old, OLD_PIP, pips, OLD_MOST_LISTED);
  bool installs = n > 0 || wish->jupyter;
  cli_text t;

  if (!cli_text_begin(&t))
    return NULL;
  cli_put_object(&t);
  put_number(&t, "protocolVersion", 2);
  cli_put_text(&t, "name", wish->name);
  cli_put_text(&t, "type", "job");
  put_parts(&t, w, wish);
  put_role(&t, w, wish);
  if (installs)
    put_installs(&t, wish, pips, n);
  put_rest(&t, w, wish, installs);
  cli_put_end(&t);
  return cli_text_end(&t);
}

/* The sources, in a folder of their own. */
static bool stage(const cli_old *old, const char *more, cli_old_file *out)
{
  const char *files[OLD_MOST_LISTED + 1];
  size_t n = collect(old, OLD_SOURCES, files, OLD_MOST_LISTED);

  if (more != NULL)
    files[n++] = more;
  if (n == 0)
    return true;
  out->code = cli_old_stage(files, n);
  return out->code != NULL;
}

int cli_old_make_job(const cli_old *old, const cli_old_wish *wish,
                     cli_old_file *out)
{
  wishes w;
  char *json;
  FILE *to;

  *out = (cli_old_file){ 0 };
  if (!read_wishes(old, &w))
    return CLI_USAGE;
  if (!stage(old, wish->file, out))
    return CLI_NO;
  json = write_job(old, &w, wish);
  to = json != NULL ? open_memstream(&out->text, &out->len) : NULL;
  if (to != NULL) {
    cli_old_json(to, json, strlen(json));
    (void)fclose(to);
  }
  free(json);
  if (out->text != NULL)
    return CLI_OK;
  cli_fail("out of memory");
  cli_old_file_free(out);
  return CLI_NO;
}

char *cli_old_job_name(const char *name)
{
  char chance[CHANCE + 1], *text = NULL;
  size_t len = 0;
  FILE *out;

  if (!cli_old_random(chance, CHANCE) ||
      (out = open_memstream(&text, &len)) == NULL)
    return NULL;
  for (; *name != '\0'; name++)
    if (*name == '$')
      (void)fputs(chance, out);
    else
      (void)fputc(*name, out);
  (void)fclose(out);
  return text;
}

/* --- sub ------------------------------------------------------------------------------------- */

/* The words with spaces between them, for free(). */
static char *join(char *const *words, int count)
{
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);

  if (out == NULL)
    return NULL;
  for (int i = 0; i < count; i++)
    (void)fprintf(out, "%s%s", i > 0 ? " " : "", words[i]);
  (void)fclose(out);
  return text;
}

int cli_opai_job_sub(cli_old *old)
{
  const char *given = old->value[OLD_JOB_NAME];
  char *name = NULL, *command = NULL, *job = NULL;
  int code = CLI_NO;
  cli_old_file f = { 0 };
  cli_remote r;

  if (given == NULL)
    return cli_old_refuse(old, "the job needs a name", "--job-name");
  name = cli_old_job_name(given);
  command = join(old->words, old->count);
  if (name != NULL && command != NULL) {
    const char *const commands[] = { command };
    const cli_old_wish wish = { .name = name,
                                .commands = commands,
                                .ncommands = 1 };
    code = cli_old_make_job(old, &wish, &f);
    if (code == CLI_OK)
      code = cli_old_submit(old, &r, &f, &job);
  }
  if (job != NULL) {
    cli_old_print_job(&r, job);
    (void)printf("\n");
    cli_remote_close(&r);
  }
  cli_old_file_free(&f);
  free(job);
  free(command);
  free(name);
  return code;
}
