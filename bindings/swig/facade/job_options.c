/* job_options.c - options of submit() that change the job file */
#include "facade.h"
#include "options.h"
#include "shared.h"

#include <stdlib.h>
#include <string.h>

typedef struct job_options {
  const char *time;            /* "90s", "2h" */
  const char *after;           /* names of jobs, separated by commas */
  const char *virtual_cluster; /* every option may be NULL */
  const char *priority;
} job_options;

static const option known[] = { OPTION(job_options, time),
                                OPTION(job_options, after),
                                OPTION(job_options, virtual_cluster),
                                OPTION(job_options, priority), OPTION_END };

static bool is_class(const char *priority)
{
  static const char *const classes[] = { "prod", "test", "oppo" };

  for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
    if (strcmp(classes[i], priority) == 0)
      return true;
  return false;
}

static void set_text(Draft *draft, const char *place, const char *text,
                     failure *f)
{
  if (text != NULL && f->code >= 0)
    f->code = pai_draft_set_text(draft, place, text, strlen(text), &f->err);
}

static void set_after(Draft *draft, const char *names, failure *f)
{
  char *copy, *rest, *name;
  listing list;
  json j;

  if (names == NULL || f->code < 0)
    return;
  copy = strdup(names);
  if (copy == NULL) {
    facade_fail(f, PAI_ENOMEM, "out of memory");
    return;
  }
  json_start(&j);
  json_begin(&j, NULL, '[');
  for (name = strtok_r(copy, ",", &rest); name != NULL;
       name = strtok_r(NULL, ",", &rest))
    json_text(&j, NULL, name);
  json_end(&j, ']');
  list = json_finish(&j, f);
  if (list.json.bytes != NULL)
    f->code =
      pai_draft_set(draft, "/extras/openpai/after", list.json.bytes, &f->err);
  free(list.json.bytes);
  free(copy);
}

Job *facade_with_options(const Job *job, words fields, failure *f)
{
  job_options o = { 0 };
  Draft *draft = NULL;
  Job *made = NULL;
  job_text text;

  if (!options_read(&o, known, &fields, f))
    return NULL;
  if (o.priority != NULL && !is_class(o.priority)) {
    facade_fail(f, PAI_EINVAL, "priority is prod, test or oppo");
    return NULL;
  }
  text = facade_write(job, PAI_FORMAT_YAML, true, f);
  if (text.bytes == NULL)
    return NULL;
  f->code = pai_draft_new(&draft, text.bytes, text.len, NULL, &f->err);
  free(text.bytes);
  set_text(draft, "/extras/openpai/timeLimit", o.time, f);
  set_text(draft, "/defaults/virtualCluster", o.virtual_cluster, f);
  set_text(draft, "/extras/hivedScheduler/jobPriorityClass", o.priority, f);
  set_after(draft, o.after, f);
  if (f->code >= 0)
    made = facade_draft_job(draft, f);
  pai_draft_free(draft);
  return made;
}
