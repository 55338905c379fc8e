/*
 * compat_notebook.c - `opai job notebook` and `job connect`
 *
 * A notebook runs in a job: one goes to it by a browser, or gets it back as a
 * page when it has run.  The page comes in the task's log, between two lines,
 * since that is what every server hands out.
 */
#include "compat.h"

#include "file.h"

#include <stdlib.h>
#include <string.h>

#define TAG_INTERACTIVE "py-sdk-notebook-interactive"
#define TAG_BATCH "py-sdk-notebook-batch"

enum { TOKEN = 32, MOST_NAME = 200 };

/* --- a notebook's job ------------------------------------------------------------------------ */

/* Its file's name stands in commands, and in the present folder. */
static bool good_name(const char *name)
{
  static const char good[] = "abcdefghijklmnopqrstuvwxyz"
                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "0123456789._+ -";

  return name[0] != '\0' && name[0] != '.' && name[0] != '-' &&
         strlen(name) < MOST_NAME && name[strspn(name, good)] == '\0';
}

static void print_state(const char *state, const char *notebook)
{
  (void)printf("notebook: %s\nstate: %s\n\n",
               notebook != NULL ? notebook : "null", state);
}

/* The address of the task, if the server says a good one. */
static bool find_address(cli_remote *r, const char *job, char *ip, size_t size,
                         int64_t *port)
{
  static const char good[] = "0123456789abcdefABCDEF.:";
  char *path = cli_job_path(job, "");
  size_t roles, main_role = 0, list = 0, task = 0, ports;
  const char *text;
  bool found = false;
  cli_json j;

  if (cli_remote_get(r, &j, path)) {
    roles = cli_json_get(&j, 0, "taskRoles");
    main_role = roles != 0 ? cli_json_get(&j, roles, "main") : 0;
    list = main_role != 0 ? cli_json_get(&j, main_role, "taskStatuses") : 0;
    task = list != 0 ? cli_json_first(&j, list) : 0;
    ports = task != 0 ? cli_json_get(&j, task, "containerPorts") : 0;
    text = task != 0 ? cli_json_text(&j, task, "containerIp") : "";
    *port =
      ports != 0 ? strtoll(cli_json_text(&j, ports, "jupyter"), NULL, 10) : 0;
    found = *port > 0 && *port < 65536 && text[0] != '\0' &&
            text[strspn(text, good)] == '\0';
    (void)snprintf(ip, size, "%s", text);
    cli_json_free(&j);
  }
  free(path);
  return found;
}

static int go_to(cli_remote *r, const char *job, const char *notebook,
                 const char *token)
{
  cli_old_waiting w = { .running_is_enough = true };
  char ip[64], url[512];
  char *name = cli_escape(notebook != NULL ? notebook : "");
  int code = CLI_NO;
  int64_t port = 0;

  if (name != NULL && cli_old_wait(r, job, &w)) {
    if (!w.over && cli_old_jupyter(r, job) &&
        find_address(r, job, ip, sizeof(ip), &port)) {
      bool six = strchr(ip, ':') != NULL;
      (void)snprintf(
        url, sizeof(url), "http://%s%s%s:%lld/notebooks%s%s%s%s%s",
        six ? "[" : "", ip, six ? "]" : "", (long long)port,
        name[0] != '\0' ? "/" : "", name, name[0] != '\0' ? ".ipynb" : "",
        token != NULL ? "?token=" : "", token != NULL ? token : "");
      print_state(w.state, url);
      code = CLI_OK;
    } else {
      print_state(w.state, NULL);
      cli_help(stderr, "openpai logs shows what Jupyter said");
    }
  }
  free(name);
  return code;
}

/* The page that its log has, in the present folder.  A path, for free(); NULL,
 * and told. */
static char *fetch_page(cli_remote *r, const char *job, const char *notebook)
{
  char name[MOST_NAME + 8], *page, *path = NULL;
  size_t len;

  page = cli_old_page(r, job, &len);
  (void)snprintf(name, sizeof(name), "%s.html", notebook);
  if (page == NULL)
    cli_fail("the log of %s contains no page", job);
  else if (cli_save(name, page, len) == CLI_OK)
    path = cli_absolute(name);
  free(page);
  return path;
}

static int get_back(cli_remote *r, const char *job, const char *notebook)
{
  cli_old_waiting w = { 0 };
  char url[4200], *path = NULL;

  if (!cli_old_wait(r, job, &w))
    return CLI_NO;
  if (strcmp(w.state, "SUCCEEDED") == 0)
    path = fetch_page(r, job, notebook);
  (void)snprintf(url, sizeof(url), "file://%s", path != NULL ? path : "");
  print_state(w.state, path != NULL ? url : NULL);
  free(path);
  return path != NULL ? CLI_OK : CLI_NO;
}

/* --- notebook ------------------------------------------------------------------------------------ */

/* "dir/x.ipynb" as "x" and "dir/"; for free(). NULL, and told. */
static char *name_of(const char *file, char **folder)
{
  static const char end[] = ".ipynb";
  const char *slash = strrchr(file, '/');
  const char *name = slash != NULL ? slash + 1 : file;
  size_t len = strlen(name), behind = sizeof(end) - 1;
  char *base = NULL;

  *folder = strndup(file, (size_t)(name - file));
  if (len > behind && strcmp(name + len - behind, end) == 0)
    base = strndup(name, len - behind);
  if (base != NULL && good_name(base) && *folder != NULL &&
      strchr(*folder, '\'') == NULL && strlen(*folder) < MOST_NAME &&
      strstr(*folder, "<%") == NULL)
    return base;
  cli_fail("not a notebook: %s", file);
  cli_help(stderr, "its name ends in .ipynb, and has letters, digits, spaces "
                   "and . _ + - before that");
  free(base);
  free(*folder);
  *folder = NULL;
  return NULL;
}

/* The job's name: as given, else the notebook's and some letters. */
static char *make_name(const cli_old *old, const char *notebook)
{
  const char *given = old->value[OLD_JOB_NAME];
  char text[MOST_NAME + 32];

  (void)snprintf(text, sizeof(text), "%s_$",
                 notebook != NULL ? notebook : "jupyter_server");
  for (char *p = text; *p != '\0'; p++)
    if (strchr(" +.", *p) != NULL)
      *p = '_';
  return cli_old_job_name(given != NULL ? given : text);
}

/* It begins where the notebook is. */
static void make_command(char *out, size_t size, const char *folder,
                         bool has_file, bool interactive)
{
  bool below = folder != NULL && folder[0] != '\0';
  int n = snprintf(out, size, "%s%s%s", below ? "cd './" : "",
                   below ? folder : "", below ? "' && " : "");

  if (!interactive)
    (void)snprintf(
      out + n, size - (size_t)n, "%s",
      "jupyter nbconvert --ExecutePreprocessor.timeout=-1 "
      "--ExecutePreprocessor.allow_errors=True --to html --execute "
      "'<% $parameters.notebook_file %>.ipynb' && echo '" OLD_PAGE_BEGINS
      "' && base64 '<% $parameters.notebook_file %>.html' && echo "
      "'" OLD_PAGE_ENDS "'");
  else
    (void)snprintf(out + n, size - (size_t)n, "%s%s",
                   "jupyter notebook --no-browser --ip 0.0.0.0 --port "
                   "$PAI_CONTAINER_HOST_jupyter_PORT_LIST "
                   "--NotebookApp.token=<% $secrets.token %> --allow-root",
                   has_file ? " --NotebookApp.file_to_run='<% "
                              "$parameters.notebook_file %>.ipynb'"
                            : "");
}

typedef struct notebook {
  const char *file; /* as given, or NULL */
  char *base;       /* its name without its end, or NULL */
  char *folder;     /* that it is in, with a slash, or "" or NULL */
  bool interactive, own_token;
  char token[TOKEN + 1];
} notebook;

/* False, and told. */
static bool take_token(const cli_old *old, notebook *nb)
{
  static const char good[] = "abcdefghijklmnopqrstuvwxyz"
                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-";
  const char *given = old->value[OLD_NOTEBOOK_TOKEN];

  if (!nb->interactive)
    return true;
  if (given == NULL) {
    nb->own_token = true;
    return cli_old_random(nb->token, TOKEN);
  }
  if (given[0] != '\0' && strlen(given) <= TOKEN &&
      given[strspn(given, good)] == '\0') {
    (void)snprintf(nb->token, sizeof(nb->token), "%s", given);
    return true;
  }
  cli_fail("a token is up to %d letters, digits, '.', '_', '~' and '-'",
           TOKEN);
  return false;
}

static int run(const cli_old *old, const notebook *nb)
{
  char command[1024], *name = make_name(old, nb->base), *job = NULL;
  const char *const commands[] = { command };
  const cli_old_wish wish = { .name = name,
                              .commands = commands,
                              .ncommands = 1,
                              .tag =
                                nb->interactive ? TAG_INTERACTIVE : TAG_BATCH,
                              .notebook = nb->base,
                              .token = nb->interactive ? nb->token : NULL,
                              .file = nb->file,
                              .jupyter = true };
  cli_old_file f = { 0 };
  int code = CLI_NO;
  cli_remote r;

  make_command(command, sizeof(command), nb->folder, nb->file != NULL,
               nb->interactive);
  if (name != NULL)
    code = cli_old_make_job(old, &wish, &f);
  if (name != NULL && code == CLI_OK)
    code = cli_old_submit(old, &r, &f, &job);
  cli_old_file_free(&f);
  if (job != NULL) {
    cli_old_print_job(&r, job);
    (void)fflush(stdout);
    code = nb->interactive
             ? go_to(&r, job, nb->base, nb->own_token ? nb->token : NULL)
             : get_back(&r, job, nb->base);
    cli_remote_close(&r);
  }
  free(job);
  free(name);
  return code;
}

int cli_opai_job_notebook(cli_old *old)
{
  notebook nb = { .file = old->count > 0 ? old->words[0] : NULL };
  int code = CLI_NO;

  nb.interactive = old->value[OLD_INTERACTIVE] != NULL || nb.file == NULL;
  if (nb.file == NULL && old->value[OLD_INTERACTIVE] == NULL)
    return cli_old_refuse(
      old, "must specify a notebook name unless in interactive mode",
      "--interactive");
  if (nb.file != NULL && (nb.base = name_of(nb.file, &nb.folder)) == NULL)
    return CLI_NO;
  if (take_token(old, &nb))
    code = run(old, &nb);
  free(nb.base);
  free(nb.folder);
  return code;
}

/* --- connect ---------------------------------------------------------------------------------------- */

/* What the job's file says at a place, as JSON; false: nothing. */
static bool get(const pai_draft *draft, const char *place, cli_json *out)
{
  char *text = NULL;
  size_t len = 0;
  FILE *to = open_memstream(&text, &len);
  bool good =
    to != NULL && pai_draft_get(draft, place, cli_write, to, NULL) == PAI_OK;

  if (to != NULL)
    (void)fclose(to);
  good = good && cli_json_read(out, text, len);
  free(text);
  return good;
}

static bool has_tag(const pai_draft *draft, const char *tag)
{
  bool found = false;
  cli_json j;

  if (!get(draft, "/extras/tags", &j))
    return false;
  for (size_t i = cli_json_first(&j, 0); i != 0; i = cli_json_next(&j, 0, i))
    found |= j.values[i].text != NULL && strcmp(j.values[i].text, tag) == 0;
  cli_json_free(&j);
  return found;
}

static int connect_as(cli_remote *r, const char *job, const pai_draft *draft)
{
  bool interactive = has_tag(draft, TAG_INTERACTIVE);
  const char *name = NULL;
  int code = CLI_NO;
  cli_json j = { 0 };

  if (get(draft, "/parameters/notebook_file", &j))
    name = j.values[0].text;
  if (name != NULL && name[0] == '\0')
    name = NULL;
  if (!interactive && !has_tag(draft, TAG_BATCH)) {
    cli_fail("%s is not the job of a notebook", job);
    cli_help(stderr, "openpai attach, exec and logs reach any job");
  } else if (name != NULL ? !good_name(name) : !interactive) {
    cli_fail("the job has no valid name of its notebook");
  } else {
    cli_old_print_job(r, job);
    (void)fflush(stdout);
    code = interactive ? go_to(r, job, name, NULL) : get_back(r, job, name);
  }
  cli_json_free(&j);
  return code;
}

int cli_opai_job_connect(cli_old *old)
{
  char *path = NULL, *job;
  pai_draft *draft = NULL;
  pai_error *err = NULL;
  int code = CLI_NO;
  cli_remote r;
  cli_answer a;

  if (!cli_old_open(old, &r))
    return CLI_NO;
  job = cli_old_job(old, old->words[0]);
  if (job != NULL)
    path = cli_job_path(job, "/config");
  if (path != NULL) {
    (void)printf("retrieving job config from cluster\n");
    cli_remote_ask(&r, &a, "GET", path, NULL, NULL, 0);
    if (a.status != PAI_OK)
      cli_answer_tell(&a);
    else if (pai_draft_new(&draft, a.body, a.len, NULL, &err) < 0)
      cli_error(job, err);
    else
      code = connect_as(&r, job, draft);
    cli_answer_free(&a);
  }
  pai_error_free(err);
  pai_draft_free(draft);
  free(path);
  free(job);
  cli_remote_close(&r);
  return code;
}
