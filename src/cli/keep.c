/* keep.c - how long finished jobs are kept, as people write it */
#include "keep.h"

#include "since.h"

#include <stdlib.h>
#include <string.h>

bool cli_keep_time(int64_t *ms, const cli_verb *verb, const char *word)
{
  *ms = 0;
  if (word == NULL)
    return true;
  if (cli_read_since(ms, word) && *ms < 0) {
    *ms = -*ms;
    return true;
  }
  cli_misused(verb, "--keep is a time, as 12h, 30d or 1d12h", word);
  return false;
}

bool cli_keep_jobs(uint64_t *jobs, const cli_verb *verb, const char *word)
{
  *jobs = 0;
  if (word == NULL)
    return true;
  if (word[0] != '\0' && strlen(word) < 16 &&
      word[strspn(word, "0123456789")] == '\0')
    *jobs = strtoull(word, NULL, 10);
  if (*jobs > 0)
    return true;
  cli_misused(verb, "--keep-jobs is a number of jobs, from 1 on", word);
  return false;
}

/* "500M", "20G", "1T". */
static bool read_size(uint64_t *bytes, const cli_verb *verb, const char *word)
{
  static const char units[] = "KMGT";
  size_t digits = word != NULL ? strspn(word, "0123456789") : 0;
  const char *unit;

  *bytes = 0;
  if (word == NULL)
    return true;
  unit = word[digits] != '\0' ? strchr(units, word[digits]) : NULL;
  if (digits > 0 && digits < 7 && unit != NULL && word[digits + 1] == '\0')
    *bytes = strtoull(word, NULL, 10) << (10 * (unit - units + 1));
  if (*bytes > 0)
    return true;
  cli_misused(verb, "--keep-size is an amount, as 500M, 20G or 1T", word);
  return false;
}

bool cli_keep_read(pai_platform_options *out, const cli_verb *verb,
                   const cli_keep *k)
{
  int64_t ms;

  if (!cli_keep_time(&ms, verb, k->time) ||
      !cli_keep_jobs(&out->keep_jobs, verb, k->jobs) ||
      !read_size(&out->keep_bytes, verb, k->size))
    return false;
  out->keep_time = ms * 1000;
  return true;
}

bool cli_keep_good(const cli_verb *verb, const cli_keep *k)
{
  pai_platform_options none = { 0 };

  return cli_keep_read(&none, verb, k);
}
