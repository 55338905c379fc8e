/* job_source.c - the job given to `run` or `submit`: a file or a command */
#include "cli.h"
#include "environment.h"
#include "folders.h"
#include "job_source.h"
#include "json.h"
#include "secrets.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

/* --- name of a command's job --------------------------------------------- */

static const char *base_name(const char *word)
{
  const char *slash = strrchr(word, '/');

  return slash != NULL ? slash + 1 : word;
}

/* Whether a program runs another program or a script. */
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

    /* Version suffixes: python3, lua5.4. */
    if (strncmp(name, names[i], len) == 0 &&
        name[len + strspn(name + len, "0123456789.")] == '\0')
      return true;
  }
  return false;
}

/* Returns the length of "train" in "train.py"; 0: not a script. */
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

/* Copies the characters that a job's name may have. */
static void put_name(char *out, size_t size, const char *name, size_t len)
{
  size_t n = 0, i = 0;

  while (i < len && name[i] == '-') /* a name must not look like an option */
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

/* --- the job ------------------------------------------------------------- */

/* Returns the command as a line of bash, for free(). */
static char *make_script(char *const *words, int count)
{
  char *script = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&script, &size);

  if (out == NULL)
    return NULL;
  /* exec replaces the shell, so that signals reach the command itself. */
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

/* Returns a job file for the command, for free(), with this much memory in
 * MiB, one CPU and no GPU.  The job is named after the script or module that
 * an interpreter runs, else after the program.  NULL after printing an
 * error. */
static char *cli_one_command_job(char *const *words, int count,
                                 long long memory)
{
  char name[64], *script = make_script(words, count), *job = NULL;

  make_name(name, sizeof(name), words, count);
  if (script != NULL)
    job = cli_json_make(
      "{\"protocolVersion\":2,\"name\":%s,\"type\":\"job\","
      "\"prerequisites\":[{\"name\":\"host\",\"type\":"
      "\"dockerimage\",\"uri\":\"host\"}],\"taskRoles\":{\"main\":{"
      "\"dockerImage\":\"host\",\"resourcePerInstance\":{\"cpu\":1,"
      "\"memoryMB\":%lld,\"gpu\":0},\"commands\":[%s]}}}\n",
      name, memory, script);
  if (job == NULL)
    cli_fail("out of memory");
  free(script);
  return job;
}

static bool runs_in_engine(void)
{
  return cli_job.runtime != NULL && (strcmp(cli_job.runtime, "podman") == 0 ||
                                     strcmp(cli_job.runtime, "docker") == 0);
}

bool cli_job_source_check(cli_job_source *s, int count, char **words)
{
  bool command = s->words > 0;

  cli_makes_root = true;
  s->file = count > 0 ? words[0] : NULL;
  if (command && count > 0)
    return cli_wrong("a job file and a command exclude each other", words[0]);
  if (count > 1)
    return cli_wrong("only one job file can be given", words[1]);
  if (!command && count == 0)
    return cli_wrong("missing argument", "a job file, or a command after --");
  if (command && s->command[0][0] == '\0')
    return cli_wrong("the command after -- is empty", "''");
  if (!cli_job_options_good())
    return false;
  if (command && cli_job.image.count == 0 && runs_in_engine())
    return cli_wrong("a container requires an image: --image NAME",
                     cli_job.runtime);
  if (command && (s->secrets != NULL || cli_secret_files.count > 0))
    return cli_wrong("these options require a job file",
                     "--secrets, --secret-file");
  return command || !s->env->clean_env ||
         cli_wrong("this option requires a command after --", "--clean-env");
}

/* Returns the memory of a command without --memory in MiB: the same share of
 * the node's memory as of its CPUs.  Returns -1 after printing an error. */
static long long default_memory(void)
{
  enum { EACH = 4096, LEAST = 256 };
  long long millis = cli_job_cpu_millis(), memory = millis * EACH / 1000;
  cli_remote r;
  pai_json *j;

  if (!cli_remote_open(&r, true))
    return -1;
  if (cli_call_quietly(&r, &j, "server.status", cli_no_arguments())) {
    long long all = cli_json_number(j, 0, "machine/cpus", 0),
              mb = cli_json_number(j, 0, "machine/memory", 0) >> 20;

    if (all > 0 && mb > 0)
      memory = millis < all * 1000 ? mb / all * millis / 1000 : mb;
    pai_json_free(j);
  }
  cli_remote_close(&r);
  return memory > LEAST ? memory : LEAST;
}

static void tell_memory(long long mb)
{
  char note[120];

  (void)snprintf(note, sizeof(note),
                 "memory: %lld MiB, in proportion to its CPUs (see --memory)",
                 mb);
  cli_say(PAI_LOG_INFO, note);
}

/* Whether the job goes to the platform of this machine. */
static bool stays_here(void)
{
  cli_context context = { 0 };
  bool here = cli_context_choose(&context) == 0;

  cli_context_free(&context);
  return here;
}

static int open_command(cli_job_file *out, const cli_job_source *s, bool quiet)
{
  static const char name[] = "the command";
  bool given = cli_job.memory.count > 0;
  long long memory = given ? 1 : default_memory();
  char *text =
    memory > 0 ? cli_one_command_job(s->command, s->words, memory) : NULL;
  int code;

  *out = (cli_job_file){ .file = { .name = name } };
  if (text == NULL)
    return CLI_NO;
  /* In a container those paths belong to its image. */
  if (stays_here() && cli_job.image.count == 0)
    cli_folders_find(s->command, s->words, !s->env->clean_env, s->copied,
                     quiet);
  cli_job_file_take(out, name, text, strlen(text), NULL, true);
  free(text);
  code = cli_job_file_judge(out, name);
  if (code == CLI_OK && !given && !quiet)
    tell_memory(memory);
  return code;
}

static int open_file(cli_job_file *out, const cli_job_source *s)
{
  if (s->text == NULL)
    return cli_job_file_need(out, s->file);
  cli_job_file_take(out, s->file, s->text, s->len, NULL, true);
  return cli_job_file_judge(out, s->file);
}

int cli_job_source_open(cli_job_file *out, const cli_job_source *s, bool quiet)
{
  bool command = s->words > 0;
  int code;

  *out = (cli_job_file){ 0 };
  if (cli_job.folder.count > 0 && stays_here() && !cli_folders_here())
    return CLI_NO;
  code = command ? open_command(out, s, quiet) : open_file(out, s);

  if (code == CLI_OK && !command)
    code = cli_secrets_fill(out, s->secrets, false);
  if (code == CLI_OK)
    code = cli_environment_fill(out, s->env, command);
  return code;
}
