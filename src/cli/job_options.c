/* job_options.c - what the command line says of a job, over what its file says */
#include "draft.h"
#include "folders.h"
#include "job_options.h"

#include "jobs.h"
#include "secrets.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PATH = 700 };

cli_job_options cli_job;

/* --- values -------------------------------------------------------------------- */

/* A number with one of the units behind it, each so many times the first one;
 * -1: it is none. */
static long long read_number(const char *text, const char *units,
                             const long long *times)
{
  const char *unit;
  char *end;
  long long n = strtoll(text, &end, 10);

  if (text[0] < '0' || text[0] > '9' || n > 1000 * 1000 * 1000)
    return -1;
  if (*end == '\0')
    return n * times[0];
  unit = strchr(units, *end);
  if (unit == NULL || end[1] != '\0')
    return -1;
  return n * times[unit - units];
}

static long long read_memory(const char *text)
{
  static const long long times[] = { 1, 1024, 1024 * 1024 };
  long long n = read_number(text, "MGT", times);

  return n > 0 && n <= INT32_MAX ? n : -1;
}

static long long read_count(const char *text)
{
  static const long long one[] = { 1 };
  long long n = read_number(text, "", one);

  return n <= INT32_MAX ? n : -1;
}

/* "90", "30m", "1h30m". */
static bool is_time(const char *text)
{
  static const long long times[] = { 1, 60, 3600, 86400 };
  long long whole = 0;

  while (*text != '\0') {
    size_t len = strspn(text, "0123456789");
    char part[16];
    long long n;

    len += text[len] != '\0';
    if (len >= sizeof(part))
      return false;
    (void)snprintf(part, sizeof(part), "%.*s", (int)len, text);
    n = read_number(part, "smhd", times);
    if (n < 0)
      return false;
    whole += n;
    text += len;
  }
  return whole > 0;
}

static bool is_one_of(const char *word, const char *const *words)
{
  for (; *words != NULL; words++)
    if (strcmp(*words, word) == 0)
      return true;
  return false;
}

/* What follows ROLE=, or all of it. */
static const char *value_of(const char *word)
{
  const char *equals = strchr(word, '=');

  return equals != NULL ? equals + 1 : word;
}

static bool wrong(const cli_verb *verb, const char *what, const char *word)
{
  cli_misused(verb, what, word);
  return false;
}

static bool numbers_are_good(const cli_verb *verb)
{
  for (size_t i = 0; i < cli_gpus.count; i++)
    if (read_count(value_of(cli_gpus.words[i])) < 0)
      return wrong(verb, "--gpus is a whole number", cli_gpus.words[i]);
  for (size_t i = 0; i < cli_cpus.count; i++)
    if (read_count(value_of(cli_cpus.words[i])) < 1)
      return wrong(verb, "--cpus is a whole number from 1 on",
                   cli_cpus.words[i]);
  for (size_t i = 0; i < cli_memory.count; i++)
    if (read_memory(value_of(cli_memory.words[i])) < 0)
      return wrong(verb, "--memory is a number of MiB, or 512M, 16G, 1T",
                   cli_memory.words[i]);
  return true;
}

bool cli_job_options_good(const cli_verb *verb)
{
  static const char *const runtimes[] = { "auto",   "process", "bwrap",
                                          "podman", "docker",  NULL },
                           *const classes[] = { "prod", "test", "oppo", NULL };
  const cli_job_options *o = &cli_job;

  if (o->runtime != NULL && !is_one_of(o->runtime, runtimes))
    return wrong(verb, "--runtime is auto, process, bwrap, podman or docker",
                 o->runtime);
  if (o->priority != NULL && !is_one_of(o->priority, classes))
    return wrong(verb, "--priority is prod, test or oppo", o->priority);
  for (size_t i = 0; i < cli_tags.count; i++)
    if (cli_tags.words[i][0] == '\0' || strchr(cli_tags.words[i], ',') != NULL)
      return wrong(verb, "--tag is a text without commas", cli_tags.words[i]);
  if (!cli_folders_good(verb))
    return false;
  if (o->time != NULL && !is_time(o->time))
    return wrong(verb, "--time is a number of seconds, or 90s, 30m, 2h, 1d",
                 o->time);
  return numbers_are_good(verb);
}

long long cli_job_cpus(void)
{
  return cli_cpus.count > 0
           ? read_count(value_of(cli_cpus.words[cli_cpus.count - 1]))
           : 1;
}

bool cli_job_options_given(void)
{
  return cli_job.runtime != NULL || cli_job_options_need_v2();
}

bool cli_job_options_need_v2(void)
{
  return cli_job.time != NULL || cli_job.vc != NULL ||
         cli_job.priority != NULL ||
         cli_gpus.count + cli_cpus.count + cli_memory.count + cli_image.count +
             cli_after.count + cli_folders.count >
           0;
}

/* --- in the file ----------------------------------------------------------------- */

/* The task role that a word is about, as a value of the list of them; 0, and
 * told: the word does not say, or there is no such role. */
static size_t find_role(const cli_json *roles, const char *option,
                        const char *word)
{
  const char *equals = strchr(word, '=');
  size_t first = cli_json_first(roles, 0), found = 0;
  char name[256];

  if (equals == NULL) {
    if (first != 0 && cli_json_next(roles, 0, first) == 0)
      return first;
    cli_fail("--%s %s: the job has several task roles", option, word);
    (void)snprintf(name, sizeof(name), "say of which: --%s %s=%s", option,
                   first != 0 ? roles->values[first].key : "ROLE", word);
    cli_help(stderr, name);
    return 0;
  }
  (void)snprintf(name, sizeof(name), "%.*s", (int)(equals - word), word);
  found = cli_json_get(roles, 0, name);
  if (found == 0)
    cli_fail("--%s: the job has no task role %s", option, name);
  return found;
}

/* Where the image of a role is named: the prerequisite that it calls so. */
static bool image_path(char *path, const pai_draft *draft,
                       const cli_json *roles, size_t role)
{
  char *text = cli_draft_value(draft, "/prerequisites");
  const char *wanted = cli_json_text(roles, role, "dockerImage");
  bool found = false;
  unsigned n = 0;
  cli_json list;

  if (text == NULL || !cli_json_read(&list, text, strlen(text))) {
    free(text);
    return false;
  }
  for (size_t i = cli_json_first(&list, 0); i != 0 && !found;
       i = cli_json_next(&list, 0, i), n++)
    if (strcmp(cli_json_text(&list, i, "type"), "dockerimage") == 0 &&
        strcmp(cli_json_text(&list, i, "name"), wanted) == 0) {
      (void)snprintf(path, MOST_PATH, "/prerequisites/%u/uri", n);
      found = true;
    }
  cli_json_free(&list);
  free(text);
  return found;
}

/* Whether another role names the same image. */
static bool is_shared(const cli_json *roles, size_t role)
{
  const char *image = cli_json_text(roles, role, "dockerImage");

  for (size_t i = cli_json_first(roles, 0); i != 0;
       i = cli_json_next(roles, 0, i))
    if (i != role &&
        strcmp(cli_json_text(roles, i, "dockerImage"), image) == 0)
      return true;
  return false;
}

static int set_number(pai_draft *draft, const char *role, const char *field,
                      long long value, pai_error **err)
{
  char below[MOST_PATH], path[MOST_PATH], number[32];

  if (!cli_json_pointer(below, sizeof(below), "/taskRoles", role,
                        strlen(role)))
    return PAI_ELIMIT;
  (void)snprintf(number, sizeof(number), "%lld", value);
  (void)snprintf(path, sizeof(path), "%.600s/resourcePerInstance/%s", below,
                 field);
  return pai_draft_set(draft, path, number, err);
}

static int set_numbers(pai_draft *draft, const cli_json *roles,
                       const cli_words *list, const char *option,
                       const char *field, pai_error **err)
{
  int rc = PAI_OK;

  for (size_t i = 0; rc == PAI_OK && i < list->count; i++) {
    size_t role = find_role(roles, option, list->words[i]);
    const char *value = value_of(list->words[i]);

    if (role == 0)
      return PAI_EUSER;
    rc = set_number(
      draft, roles->values[role].key, field,
      list == &cli_memory ? read_memory(value) : read_count(value), err);
  }
  return rc;
}

static int set_images(pai_draft *draft, const cli_json *roles, pai_error **err)
{
  int rc = PAI_OK;

  for (size_t i = 0; rc == PAI_OK && i < cli_image.count; i++) {
    size_t role = find_role(roles, "image", cli_image.words[i]);
    const char *image = value_of(cli_image.words[i]);
    char path[MOST_PATH];

    if (role == 0)
      return PAI_EUSER;
    if (is_shared(roles, role)) {
      cli_fail("--image: other task roles have the image of %s, too",
               roles->values[role].key);
      cli_help(stderr, "give the role an image of its own in the job file");
      return PAI_EUSER;
    }
    if (!image_path(path, draft, roles, role)) {
      cli_fail("--image: the job's file names no image for %s",
               roles->values[role].key);
      return PAI_EUSER;
    }
    rc = pai_draft_set_text(draft, path, image, strlen(image), err);
  }
  return rc;
}

static int set_roles(pai_draft *draft, pai_error **err)
{
  char *text;
  cli_json roles;
  int rc;

  if (cli_gpus.count + cli_cpus.count + cli_memory.count + cli_image.count ==
      0)
    return PAI_OK;
  text = cli_draft_value(draft, "/taskRoles");
  if (text == NULL || !cli_json_read(&roles, text, strlen(text))) {
    free(text);
    return PAI_ENOMEM;
  }
  rc = set_numbers(draft, &roles, &cli_gpus, "gpus", "gpu", err);
  if (rc == PAI_OK)
    rc = set_numbers(draft, &roles, &cli_cpus, "cpus", "cpu", err);
  if (rc == PAI_OK)
    rc = set_numbers(draft, &roles, &cli_memory, "memory", "memoryMB", err);
  if (rc == PAI_OK)
    rc = set_images(draft, &roles, err);
  cli_json_free(&roles);
  free(text);
  return rc;
}

static int set_list(pai_draft *draft, const char *path, const cli_words *words,
                    pai_error **err)
{
  char *list = NULL;
  size_t size;
  FILE *out;
  int rc;

  if (words->count == 0)
    return PAI_OK;
  out = open_memstream(&list, &size);
  if (out == NULL)
    return PAI_ENOMEM;
  for (size_t i = 0; i < words->count; i++) {
    (void)fputc(i == 0 ? '[' : ',', out);
    cli_json_string(out, words->words[i], strlen(words->words[i]));
  }
  (void)fputc(']', out);
  rc = fclose(out) == 0 ? pai_draft_set(draft, path, list, err) : PAI_ENOMEM;
  free(list);
  return rc;
}

int cli_job_options_set(pai_draft *draft, pai_error **err)
{
  const struct {
    const char *path, *value;
  } texts[] = {
    { "/extras/openpai/runtime", cli_job.runtime },
    { "/extras/openpai/timeLimit", cli_job.time },
    { "/defaults/virtualCluster", cli_job.vc },
    { "/extras/hivedScheduler/jobPriorityClass", cli_job.priority },
  };
  int rc = set_roles(draft, err);

  for (size_t i = 0; rc == PAI_OK && i < sizeof(texts) / sizeof(texts[0]); i++)
    if (texts[i].value != NULL)
      rc = pai_draft_set_text(draft, texts[i].path, texts[i].value,
                              strlen(texts[i].value), err);
  if (rc == PAI_OK)
    rc = set_list(draft, "/extras/openpai/after", &cli_after, err);
  if (rc == PAI_OK)
    rc = set_list(draft, "/extras/openpai/folders", &cli_folders, err);
  return rc;
}
