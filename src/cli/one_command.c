/* one_command.c - a job of one command, without a file */
#include "one_command.h"

#include "environment.h"

#include <stdlib.h>
#include <string.h>

/* --- what it is called ------------------------------------------------------------ */

static const char *base_name(const char *word)
{
  const char *slash = strrchr(word, '/');

  return slash != NULL ? slash + 1 : word;
}

/* Programs that run another one, or a script. */
static bool is_launcher(const char *word)
{
  static const char *const names[] = {
    "python",     "pypy",      "bash",     "sh",         "zsh",
    "dash",       "node",      "perl",     "ruby",       "Rscript",
    "julia",      "lua",       "torchrun", "mpirun",     "mpiexec",
    "accelerate", "deepspeed", "uv",       "poetry",     "conda",
    "env",        "nice",      "time",     "horovodrun", "papermill"
  };
  const char *name = base_name(word);

  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    size_t len = strlen(names[i]);

    /* python3, lua5.4 */
    if (strncmp(name, names[i], len) == 0 &&
        name[len + strspn(name + len, "0123456789.")] == '\0')
      return true;
  }
  return false;
}

/* Length of "train" in "train.py", or 0: it is no script. */
static size_t script_len(const char *name)
{
  static const char *const ends[] = {
    ".py", ".sh", ".bash", ".R", ".jl", ".lua", ".js", ".pl", ".rb", ".ipynb"
  };
  size_t len = strlen(name);

  for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
    size_t end = strlen(ends[i]);

    if (len > end && strcmp(name + len - end, ends[i]) == 0)
      return len - end;
  }
  return 0;
}

/* With what a name may have. */
static void put_name(char *out, size_t size, const char *name, size_t len)
{
  size_t n = 0, i = 0;

  while (i < len && name[i] == '-') /* a name is no option */
    i++;
  for (; i < len && n + 1 < size; i++)
    if ((name[i] >= 'a' && name[i] <= 'z') ||
        (name[i] >= 'A' && name[i] <= 'Z') ||
        (name[i] >= '0' && name[i] <= '9') || name[i] == '_' || name[i] == '-')
      out[n++] = name[i];
  out[n] = '\0';
  if (n == 0)
    (void)snprintf(out, size, "job");
}

static void make_name(char *out, size_t size, char *const *words, int count)
{
  const char *name = base_name(words[0]);
  size_t len = script_len(name);

  if (is_launcher(words[0])) {
    for (int i = 1; i < count && len == 0; i++) {
      len = script_len(base_name(words[i]));
      if (len != 0)
        name = base_name(words[i]);
    }
    for (int i = 1; i + 1 < count && len == 0; i++)
      if (strcmp(words[i], "-m") == 0) {
        const char *dot = strrchr(words[i + 1], '.');

        name = dot != NULL ? dot + 1 : words[i + 1];
        len = strlen(name);
      }
  }
  put_name(out, size, name, len != 0 ? len : strlen(name));
}

/* --- the job ------------------------------------------------------------------------ */

/* The command as bash takes it, for free(). */
static char *make_script(char *const *words, int count)
{
  char *script = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&script, &size);

  if (out == NULL)
    return NULL;
  /* In the shell's place, so that what is to end it reaches it alone. */
  (void)fputs("exec ", out);
  for (int i = 0; i < count; i++) {
    if (i > 0)
      (void)fputc(' ', out);
    cli_quote(out, words[i]);
  }
  (void)fputc('\n', out);
  if (fclose(out) != 0) {
    free(script);
    return NULL;
  }
  return script;
}

char *cli_one_command_job(char *const *words, int count, long long memory)
{
  char name[64], *script = make_script(words, count), *job = NULL;
  size_t size = 0;
  FILE *out = script != NULL ? open_memstream(&job, &size) : NULL;

  if (out == NULL) {
    cli_fail("out of memory");
    free(script);
    return NULL;
  }
  make_name(name, sizeof(name), words, count);
  (void)fprintf(out,
                "{\"protocolVersion\":2,\"name\":\"%s\",\"type\":\"job\","
                "\"prerequisites\":[{\"name\":\"host\",\"type\":"
                "\"dockerimage\",\"uri\":\"host\"}],\"taskRoles\":{\"main\":{"
                "\"dockerImage\":\"host\",\"resourcePerInstance\":{\"cpu\":1,"
                "\"memoryMB\":%lld,\"gpu\":0},\"commands\":[",
                name, memory);
  cli_json_string(out, script, strlen(script));
  (void)fputs("]}}}\n", out);
  free(script);
  return fclose(out) == 0 ? job : NULL;
}
