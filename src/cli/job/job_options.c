/* job_options.c - options of a command line that override a job file */
#include "draft.h"
#include "folders.h"
#include "job_options.h"

#include "jobs.h"
#include "quantity.h"
#include "secrets.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PATH = 700 };

/* --- values -------------------------------------------------------------- */

/* Parses MiB, or an amount such as "16G", into MiB; -1: invalid. */
static long long read_memory(const char *text)
{
  bool unit = text[strspn(text, "0123456789")] != '\0';
  int64_t n;

  if (!cli_read_bytes(text, strlen(text), &n))
    return -1;
  n = unit ? n >> 20 : n;
  return n > 0 && n <= INT32_MAX ? n : -1;
}

static long long read_count(const char *text)
{
  int64_t n;
  const char *rest = cli_read_decimal(text, 0, &n);

  return rest != NULL && *rest == '\0' && n <= INT32_MAX ? n : -1;
}

/* Whether a word is a time as in a job file: "90", "30m", "1h30m". */
static bool is_time(const char *text)
{
  int64_t us;

  return text[strspn(text, "0123456789smhd")] == '\0' &&
         cli_read_span(text, &us) && us > 0;
}

/* Returns the part after ROLE=, or the whole word. */
static const char *value_of(const char *word)
{
  const char *equals = strchr(word, '=');

  return equals != NULL ? equals + 1 : word;
}

/* Parses CPUs into thousandths; 0: invalid. */
static uint64_t read_cpus(const char *text)
{
  uint64_t milli;

  return pai_cpus_parse(&milli, text, NULL) == PAI_OK ? milli : 0;
}

static bool cpus_are_good(const char *word)
{
  pai_error *err = NULL;
  uint64_t milli;

  if (pai_cpus_parse(&milli, value_of(word), &err) < 0) {
    cli_fail("--cpus: %s", pai_error_message(err));
    if (pai_error_help(err) != NULL)
      cli_help(stderr, pai_error_help(err));
    pai_error_free(err);
    return false;
  }
  return milli != 0 ||
         cli_wrong("--cpus is a number above 0, as 2 or 0.5", word);
}

static bool numbers_are_good(void)
{
  for (size_t i = 0; i < cli_job.gpus.count; i++)
    if (read_count(value_of(cli_job.gpus.words[i])) < 0)
      return cli_wrong("--gpus is a whole number", cli_job.gpus.words[i]);
  for (size_t i = 0; i < cli_job.cpus.count; i++)
    if (!cpus_are_good(cli_job.cpus.words[i]))
      return false;
  for (size_t i = 0; i < cli_job.memory.count; i++)
    if (read_memory(value_of(cli_job.memory.words[i])) < 0)
      return cli_wrong("--memory is a number of MiB, or 512M, 16G, 1T",
                       cli_job.memory.words[i]);
  return true;
}

bool cli_job_options_good(void)
{
  const cli_job_options *o = &cli_job;

  for (size_t i = 0; i < cli_job.tag.count; i++)
    if (cli_job.tag.words[i][0] == '\0' ||
        strchr(cli_job.tag.words[i], ',') != NULL)
      return cli_wrong("--tag is a text without commas", cli_job.tag.words[i]);
  if (!cli_folders_good())
    return false;
  if (o->time != NULL && !is_time(o->time))
    return cli_wrong("--time is a number of seconds, or 90s, 30m, 2h, 1d",
                     o->time);
  return numbers_are_good();
}

long long cli_job_cpu_millis(void)
{
  return cli_job.cpus.count > 0
           ? (long long)read_cpus(
               value_of(cli_job.cpus.words[cli_job.cpus.count - 1]))
           : 1000;
}

bool cli_job_options_given(void)
{
  return cli_job.runtime != NULL || cli_job_options_need_v2();
}

bool cli_job_options_need_v2(void)
{
  return cli_job.time != NULL || cli_job.vc != NULL ||
         cli_job.priority != NULL ||
         cli_job.gpus.count + cli_job.cpus.count + cli_job.memory.count +
             cli_job.image.count + cli_job.after.count + cli_job.folder.count >
           0;
}

/* --- in the file --------------------------------------------------------- */

/* Finds the task role of a word "ROLE=VALUE" or, in a job with one role,
 * "VALUE".  Returns false, after printing an error, if the word is ambiguous
 * or there is no such role. */
static bool find_role(cli_each *role, const pai_json *roles,
                      const char *option, const char *word)
{
  const char *equals = strchr(word, '=');
  char name[256];

  *role = cli_each_of(roles, 0);
  if (equals == NULL) {
    bool any = cli_next(role);

    if (pai_json_count(roles, 0) == 1)
      return true;
    cli_fail("--%s %s: the job has several task roles", option, word);
    (void)snprintf(name, sizeof(name), "name the task role: --%s %s=%s",
                   option, any ? role->key : "ROLE", word);
    cli_help(stderr, name);
    return false;
  }
  (void)snprintf(name, sizeof(name), "%.*s", (int)(equals - word), word);
  while (cli_next(role))
    if (strcmp(role->key, name) == 0)
      return true;
  cli_fail("--%s: the job has no task role %s", option, name);
  return false;
}

/* Formats the place of a role's image: the URI of the prerequisite it
 * names. */
static bool image_path(char *path, const pai_draft *draft,
                       const pai_json *roles, size_t role)
{
  char *text = cli_draft_value(draft, "/prerequisites");
  const char *wanted = cli_json_text(roles, role, "dockerImage");
  bool found = false;
  unsigned n = 0;
  pai_json *list;

  if (text == NULL || !cli_json_read(&list, text, strlen(text))) {
    free(text);
    return false;
  }
  for (cli_each e = cli_each_of(list, 0); !found && cli_next(&e); n++)
    if (strcmp(cli_json_text(list, e.at, "type"), "dockerimage") == 0 &&
        strcmp(cli_json_text(list, e.at, "name"), wanted) == 0) {
      (void)snprintf(path, MOST_PATH, "/prerequisites/%u/uri", n);
      found = true;
    }
  cli_json_free(&list);
  free(text);
  return found;
}

/* Whether another role uses the same image. */
static bool is_shared(const pai_json *roles, size_t role)
{
  const char *image = cli_json_text(roles, role, "dockerImage");

  for (cli_each i = cli_each_of(roles, 0); cli_next(&i);)
    if (i.at != role &&
        strcmp(cli_json_text(roles, i.at, "dockerImage"), image) == 0)
      return true;
  return false;
}

static int set_number(pai_draft *draft, const char *role, const char *field,
                      const char *number, pai_error **err)
{
  char below[MOST_PATH], path[MOST_PATH];

  if (!cli_json_pointer(below, sizeof(below), "/taskRoles", role,
                        strlen(role)))
    return PAI_ELIMIT;
  (void)snprintf(path, sizeof(path), "%.600s/resourcePerInstance/%s", below,
                 field);
  return pai_draft_set(draft, path, number, err);
}

static int set_numbers(pai_draft *draft, const pai_json *roles,
                       const cli_words *list, const char *option,
                       const char *field, pai_error **err)
{
  int rc = PAI_OK;

  for (size_t i = 0; rc == PAI_OK && i < list->count; i++) {
    cli_each role;
    const char *value = value_of(list->words[i]);
    char number[PAI_CPUS_TEXT];

    if (!find_role(&role, roles, option, list->words[i]))
      return PAI_EUSER;
    if (list == &cli_job.cpus)
      (void)pai_cpus_text(number, read_cpus(value));
    else
      (void)snprintf(number, sizeof(number), "%lld",
                     list == &cli_job.memory ? read_memory(value)
                                             : read_count(value));
    rc = set_number(draft, role.key, field, number, err);
  }
  return rc;
}

static int set_images(pai_draft *draft, const pai_json *roles, pai_error **err)
{
  int rc = PAI_OK;

  for (size_t i = 0; rc == PAI_OK && i < cli_job.image.count; i++) {
    cli_each role;
    const char *image = value_of(cli_job.image.words[i]);
    char path[MOST_PATH];

    if (!find_role(&role, roles, "image", cli_job.image.words[i]))
      return PAI_EUSER;
    if (is_shared(roles, role.at)) {
      cli_fail("--image: other task roles use the image of %s, too", role.key);
      cli_help(stderr, "give the role an image of its own in the job file");
      return PAI_EUSER;
    }
    if (!image_path(path, draft, roles, role.at)) {
      cli_fail("--image: the job's file names no image for %s", role.key);
      return PAI_EUSER;
    }
    rc = pai_draft_set_text(draft, path, image, strlen(image), err);
  }
  return rc;
}

static int set_roles(pai_draft *draft, pai_error **err)
{
  char *text;
  pai_json *roles;
  int rc;

  if (cli_job.gpus.count + cli_job.cpus.count + cli_job.memory.count +
        cli_job.image.count ==
      0)
    return PAI_OK;
  text = cli_draft_value(draft, "/taskRoles");
  if (text == NULL || !cli_json_read(&roles, text, strlen(text))) {
    free(text);
    return PAI_ENOMEM;
  }
  rc = set_numbers(draft, roles, &cli_job.gpus, "gpus", "gpu", err);
  if (rc == PAI_OK)
    rc = set_numbers(draft, roles, &cli_job.cpus, "cpus", "cpu", err);
  if (rc == PAI_OK)
    rc = set_numbers(draft, roles, &cli_job.memory, "memory", "memoryMB", err);
  if (rc == PAI_OK)
    rc = set_images(draft, roles, err);
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
    cli_json_print(out, "%s", words->words[i]);
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
    rc = set_list(draft, "/extras/openpai/after", &cli_job.after, err);
  if (rc == PAI_OK)
    rc = set_list(draft, "/extras/openpai/folders", &cli_job.folder, err);
  return rc;
}
