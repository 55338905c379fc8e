/* environment.c - variables, commands and folder of a job: GET
 * /jobs/NAME/environment */
#include "platform/records/records.h"
#include "platform/restore/resubmit.h"

#include "json/node.h"

/* A reply about a job's environment. */
typedef struct environment {
  pai__reply *reply;
  const pai_spec *spec; /* of its masked file */
  const char *folder;
} environment;

static void write_variables(pai__reply *a, const pai_spec *spec)
{
  pai__json_begin_object(&a->w);
  for (size_t i = 0; i < spec->nvariables; i++)
    pai__json_put_text(&a->w, spec->variables[i].name,
                       spec->variables[i].value);
  pai__json_end_object(&a->w);
}

static int role_value(void *user_data, unsigned field, const void *of)
{
  const environment *e = user_data;
  const pai__role *role = of;

  if (field == PAI__RoleEnvironment_name)
    return pai__reply_text(e->reply, role->name);
  if (field == PAI__RoleEnvironment_command)
    return pai__reply_text(e->reply, role->script);
  write_variables(e->reply, e->spec);
  return PAI_OK;
}

static void write_parameters(pai__reply *a, const pai_spec *spec)
{
  pai__node n = pai__tree_get(spec->tree, 0, "parameters");

  if (n != PAI__NO_NODE && pai__tree_type(spec->tree, n) == PAI__MAPPING)
    pai__json_node(&a->w, spec->tree, n);
  else
    pai__json_ready(&a->w, "{}", 2);
}

static int job_value(void *user_data, unsigned field, const void *of)
{
  environment *e = user_data;
  pai__json_writer *w = &e->reply->w;

  (void)of;
  if (field == PAI__JobEnvironment_folder)
    return pai__reply_text(e->reply, e->folder);
  if (field == PAI__JobEnvironment_parameters) {
    write_parameters(e->reply, e->spec);
    return PAI_OK;
  }
  pai__json_begin_array(w);
  for (size_t r = 0; r < e->spec->nroles; r++)
    (void)pai__api_object(w, &pai__api_RoleEnvironment, &e->spec->roles[r],
                          role_value, e);
  pai__json_end_array(w);
  return PAI_OK;
}

/* The file as it is stored, with masked secrets. */
static int read_file(pai_spec **out, pai_platform *p, pai_job_id job,
                     pai_error **err)
{
  pai_spec_options o = PAI_SPEC_OPTIONS_INIT;
  pai__buf text;
  int rc;

  *out = NULL;
  o.alloc = &p->alloc;
  pai__buf_init(&text, &p->alloc);
  rc =
    pai_platform_config(p, job, PAI_FORMAT_YAML, pai__buf_write, &text, err);
  if (rc == PAI_OK)
    rc = pai__buf_ok(&text)
           ? pai_spec_parse(out, pai__buf_text(&text), text.len, &o, err)
           : pai__oom(err);
  pai__buf_dispose(&text);
  return rc;
}

int pai_platform_environment(pai_platform *p, pai_job_id job, int with_folder,
                             pai_write_cb write, void *user_data,
                             pai_error **err)
{
  pai__platform_like like = { NULL, NULL, false };
  pai_spec *spec = NULL;
  pai__reply a;
  int rc = pai__reply_begin(&a, p, write, user_data, err);

  if (rc < 0)
    return rc;
  rc = read_file(&spec, p, job, err);
  if (rc == PAI_OK)
    rc = pai__like_find(&like, p, job, err);
  if (rc == PAI_OK) {
    environment e = { &a, spec, with_folder != 0 ? like.work_dir : NULL };

    (void)pai__api_object(&a.w, &pai__api_JobEnvironment, NULL, job_value, &e);
  }
  pai__like_dispose(&like, p);
  pai_spec_unref(spec);
  return pai__reply_end(&a, rc);
}
