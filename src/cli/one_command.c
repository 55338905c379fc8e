/* one_command.c - a job of one command, without a file */
#include "one_command.h"
#include "environment.h"

#include <stdlib.h>
#include <string.h>

/* --- what was given --------------------------------------------------------------- */

/* A number with a unit behind it, of `units`, each so many times the first.
 * -1: it is none. */
static long long read_number(const char *text, const char *units,
                             const long long *times)
{
  const char *unit;
  char *end;
  long long n = strtoll(text, &end, 10);

  if (end == text || n < 0 || n > 1000 * 1000 * 1000)
    return -1;
  if (*end == '\0')
    return n * times[0];
  unit = strchr(units, *end);
  if (unit == NULL || end[1] != '\0')
    return -1;
  return n * times[unit - units];
}

static bool read_wish(long long *out, const char *name, const char *value,
                      long long missing, const char *units,
                      const long long *times)
{
  *out = value != NULL ? read_number(value, units, times) : missing;
  if (*out >= 0)
    return true;
  cli_fail("--%s: this is no such number: %s", name, value);
  if (*units != '\0')
    cli_help(stderr, *units == 's' ? "give seconds, or 90s, 30m, 2h, 1d"
                                   : "give MiB, or 512M, 16G, 1T");
  return false;
}

/* --- the job ------------------------------------------------------------------------ */

/* The command as bash takes it, for free(). */
static char *make_script(const cli_one_command *c, long long seconds)
{
  char *script = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&script, &size);

  if (out == NULL)
    return NULL;
  /* In the shell's place, so that what is to end it reaches it alone. */
  (void)fputs("exec ", out);
  if (seconds > 0)
    (void)fprintf(out, "timeout -k 10 %lld ", seconds);
  for (int i = 0; i < c->nwords; i++) {
    if (i > 0)
      (void)fputc(' ', out);
    cli_quote(out, c->words[i]);
  }
  (void)fputc('\n', out);
  if (fclose(out) != 0) {
    free(script);
    return NULL;
  }
  return script;
}

/* After the command, with what a name may have. */
static void make_name(char *out, size_t size, const char *word)
{
  const char *slash = strrchr(word, '/');
  size_t n = 0;

  for (const char *p = slash != NULL ? slash + 1 : word;
       *p != '\0' && n + 1 < size; p++)
    if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
        (*p >= '0' && *p <= '9') || *p == '_' || *p == '-')
      out[n++] = *p;
  out[n] = '\0';
  if (n == 0)
    (void)snprintf(out, size, "job");
}

char *cli_one_command_job(const cli_one_command *c)
{
  static const long long ones[] = { 1 }, mega[] = { 1, 1024, 1024 * 1024 },
                         times[] = { 1, 60, 3600, 86400 };
  long long gpus, cpus, memory, seconds;
  const char *image = c->image != NULL ? c->image : "host"; /* no image */
  char name[64], *script, *job = NULL;
  size_t size = 0;
  FILE *out;

  if (!read_wish(&gpus, "gpus", c->gpus, 0, "", ones) ||
      !read_wish(&cpus, "cpus", c->cpus, 1, "", ones) ||
      !read_wish(&memory, "memory", c->memory, 4096, "MGT", mega) ||
      !read_wish(&seconds, "time", c->time, 0, "smhd", times))
    return NULL;
  script = make_script(c, seconds);
  out = script != NULL ? open_memstream(&job, &size) : NULL;
  if (out == NULL) {
    cli_fail("out of memory");
    free(script);
    return NULL;
  }
  make_name(name, sizeof(name), c->words[0]);
  (void)fputs("{\"protocolVersion\":2,", out);
  if (cli_job_runtime != NULL)
    (void)fprintf(out, "\"extras\":{\"openpai\":{\"runtime\":\"%s\"}},",
                  cli_job_runtime);
  (void)fprintf(out,
                "\"name\":\"%s\",\"type\":\"job\",\"prerequisites\":"
                "[{\"name\":\"host\",\"type\":\"dockerimage\",\"uri\":",
                name);
  cli_json_string(out, image, strlen(image));
  (void)fprintf(out,
                "}],\"taskRoles\":{\"main\":{\"dockerImage\":\"host\","
                "\"resourcePerInstance\":{\"cpu\":"
                "%lld,\"memoryMB\":%lld,\"gpu\":%lld},\"commands\":[",
                cpus > 0 ? cpus : 1, memory > 0 ? memory : 1, gpus);
  cli_json_string(out, script, strlen(script));
  (void)fputs("]}}}\n", out);
  free(script);
  return fclose(out) == 0 ? job : NULL;
}
