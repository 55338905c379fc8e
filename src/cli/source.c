/*
 * source.c - finds out what it is that a verb was given to look at
 *
 * The one place that tells a description from a file, and a machine from a
 * cluster.
 */
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 << 20 }; /* bytes that the library takes */

/* A machine or a cluster among several. */
typedef struct given {
  const char *name;
  pai_topology *machine;
  pai_cluster *cluster;
  char *called; /* the machine, in a cluster */
} given;

static const char machine_prefix[] = "hwloc:";

/* "racks:2 nodes:16": one of its words begins so. */
static bool is_cluster_line(const char *name)
{
  for (const char *at = strstr(name, "nodes:"); at != NULL;
       at = strstr(at + 1, "nodes:"))
    if (at == name || at[-1] == ' ')
      return true;
  return false;
}

static bool is_machine_line(const char *name)
{
  return strncmp(name, machine_prefix, sizeof(machine_prefix) - 1) == 0;
}

/* What begins with a tag; YAML's merge key begins with "<<". */
static bool is_xml(const char *text, size_t len)
{
  size_t at = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

  while (at < len && text[at] != '\0' && strchr(" \t\r\n", text[at]) != NULL)
    at++;
  return at + 1 < len && text[at] == '<' && text[at + 1] != '<';
}

int cli_text_add(void *text, const char *bytes, size_t len)
{
  cli_text *t = text;

  if (t->cap - t->len < len) {
    size_t cap = t->cap + t->cap / 2 + len;
    char *more = realloc(t->bytes, cap);

    if (more == NULL)
      return PAI_ENOMEM;
    t->bytes = more;
    t->cap = cap;
  }
  if (len > 0)
    memcpy(t->bytes + t->len, bytes, len);
  t->len += len;
  return PAI_OK;
}

/* --- files of clusters ------------------------------------------------------- */

static void check_cluster(cli_file *file, pai_cluster **out, const char *text,
                          size_t len, const char *form)
{
  pai_cluster_options options = PAI_CLUSTER_OPTIONS_INIT;
  pai_cluster_view view = { .struct_size = sizeof(view), .form = form };
  pai_error *err = NULL;

  options.form = form;
  if (pai_cluster_check(&file->report, out, text, len, &options, &err) < 0)
    (void)snprintf(file->why, sizeof(file->why), "cannot check %s: %s",
                   cli_shown_name(file->name), pai_error_message(err));
  else if (*out != NULL)
    (void)pai_cluster_view_sums(*out, &view);
  if (view.form != NULL)
    (void)snprintf(file->form, sizeof(file->form), "%s", view.form);
  pai_error_free(err);
}

void cli_cluster_file_open(cli_file *file, pai_cluster **out, const char *name,
                           const char *form)
{
  pai_cluster *cluster = NULL;
  char *text = NULL;
  size_t len = 0;
  int error;

  *file = (cli_file){ .name = name, .is_cluster = true };
  error = cli_read_file(&text, &len, name, MOST);
  if (error != 0)
    cli_read_why(file->why, sizeof(file->why), name, error);
  else if (form == NULL && is_xml(text, len))
    (void)snprintf(file->why, sizeof(file->why),
                   "cannot check %s: it is XML, as of a machine; "
                   "`openpai cluster show --from` reads that",
                   cli_shown_name(name));
  else
    check_cluster(file, &cluster, text != NULL ? text : "", len, form);
  free(text);
  if (out != NULL)
    *out = cluster;
  else
    pai_cluster_free(cluster);
}

bool cli_is_form(const cli_verb *verb, const char *form)
{
  pai_cluster_options options = PAI_CLUSTER_OPTIONS_INIT;
  pai_report *report;
  pai_error *err = NULL;
  int rc;

  options.form = form;
  rc = pai_cluster_check(&report, NULL, "", 0, &options, &err);
  pai_report_free(report);
  if (rc < 0) {
    cli_fail("%s", pai_error_message(err));
    if (pai_error_help(err) != NULL)
      cli_help(stderr, pai_error_help(err));
    else
      (void)fprintf(stderr, "  help: openpai %s --help\n", verb->name);
  }
  pai_error_free(err);
  return rc == PAI_OK;
}

/* --- one --------------------------------------------------------------------- */

static int tell(const char *name, pai_error *err)
{
  cli_error(name, err);
  pai_error_free(err);
  return CLI_NO;
}

static int read_cluster(given *g, const char *text, size_t len,
                        const char *form, bool warnings)
{
  cli_file file = { .name = g->name, .is_cluster = true };
  int code = CLI_NO;

  check_cluster(&file, &g->cluster, text, len, form);
  if (file.report == NULL) {
    cli_say(PAI_LOG_ERROR, file.why);
  } else {
    if (g->cluster != NULL)
      code = CLI_OK;
    if (g->cluster == NULL || warnings)
      cli_print_findings(stderr, g->name, file.report);
  }
  pai_report_free(file.report);
  return code;
}

static int read_one(given *g, const char *form, bool warnings)
{
  char *text = NULL, why[1024];
  size_t len = 0;
  int error = cli_read_file(&text, &len, g->name, MOST), code = CLI_OK;
  pai_error *err;

  if (error != 0) {
    cli_read_why(why, sizeof(why), g->name, error);
    cli_say(PAI_LOG_ERROR, why);
    if (error == ENOENT && strchr(g->name, ':') != NULL)
      cli_help(stderr, "a description of a cluster has 'nodes:N' in it, one "
                       "of a machine begins with 'hwloc:'");
    code = CLI_USAGE;
  } else if (form != NULL || !is_xml(text, len)) {
    code = read_cluster(g, text != NULL ? text : "", len, form, warnings);
  } else if (pai_topology_parse_xml(&g->machine, text, len, NULL, &err) < 0) {
    code = tell(cli_shown_name(g->name), err);
  }
  free(text);
  return code;
}

static int open_one(given *g, const char *form, bool warnings)
{
  const char *name = g->name;
  pai_error *err;

  if (is_cluster_line(name)) /* an error says which word it is */
    return pai_cluster_synthetic(&g->cluster, name, NULL, &err) < 0
             ? tell(NULL, err)
             : CLI_OK;
  if (!is_machine_line(name))
    return read_one(g, form, warnings);
  return pai_topology_synthetic(&g->machine, name + sizeof(machine_prefix) - 1,
                                NULL, &err) < 0
           ? tell(name, err)
           : CLI_OK;
}

/* --- names of machines ------------------------------------------------------- */

/* As its topology calls it, "" for not at all. */
static const char *own_name(const pai_topology *machine)
{
  pai_topology_summary view = { .struct_size = sizeof(view), .name = "" };

  (void)pai_topology_summarize(machine, &view);
  return view.name;
}

/* The file's name without folders and the last ending; "machine-2" where there
 * is none.  For free(). */
static char *name_of_file(const char *file, size_t number)
{
  const char *base = file != NULL ? strrchr(file, '/') : NULL, *dot;
  char *name;

  base = base != NULL ? base + 1 : file;
  if (file == NULL || is_machine_line(file) || strcmp(file, "-") == 0 ||
      *base == '\0') {
    name = malloc(32);
    if (name != NULL)
      (void)snprintf(name, 32, "machine-%zu", number);
    return name;
  }
  dot = strrchr(base, '.');
  return strndup(base, dot != NULL && dot != base ? (size_t)(dot - base)
                                                  : strlen(base));
}

/* Names given twice help nobody: such machines are called as their files. */
static bool name_all(given *all, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    const char *own = own_name(all[i].machine);
    bool good = own[0] != '\0';

    for (size_t j = 0; good && j < count; j++)
      good = j == i || strcmp(own, own_name(all[j].machine)) != 0;
    all[i].called = good ? strdup(own) : name_of_file(all[i].name, i + 1);
    if (all[i].called == NULL) {
      cli_fail("out of memory");
      return false;
    }
  }
  return true;
}

static int join(pai_cluster **out, given *all, size_t count)
{
  pai_cluster_machine *machines = calloc(count, sizeof(*machines));
  pai_error *err;
  int code = CLI_OK;

  if (machines == NULL) {
    cli_fail("out of memory");
    return CLI_NO;
  }
  for (size_t i = 0; i < count; i++)
    machines[i] = (pai_cluster_machine){ .struct_size = sizeof(*machines),
                                         .name = all[i].called,
                                         .topology = all[i].machine };
  if (pai_cluster_from_machines(out, machines, count, NULL, &err) < 0)
    code = tell(NULL, err);
  free(machines);
  return code;
}

/* --- all --------------------------------------------------------------------- */

static int all_are_machines(const given *all, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (all[i].machine == NULL) {
      cli_fail("%s is a cluster: only machines can be combined",
               cli_shown_name(all[i].name));
      cli_help(stderr, "give it alone, or machines as hwloc's XML");
      return CLI_USAGE;
    }
  return CLI_OK;
}

/* All that is wrong is told at once; the worst of it is returned. */
static int open_all(given *all, const char *const *names, size_t count,
                    const char *form, bool warnings)
{
  int worst = CLI_OK;
  bool read_stdin = false;

  for (size_t i = 0; i < count; i++) {
    int code = CLI_USAGE;

    all[i].name = names[i];
    if (strcmp(names[i], "-") == 0 && read_stdin)
      cli_fail("standard input can be read only once");
    else
      code = open_one(&all[i], form, warnings);
    read_stdin = read_stdin || strcmp(names[i], "-") == 0;
    if (code > worst)
      worst = code;
  }
  if (worst == CLI_OK && count > 1)
    worst = all_are_machines(all, count);
  return worst;
}

int cli_source_open(cli_source *s, const char *const *names, size_t count,
                    const char *form, bool warnings)
{
  given *all;
  int code;

  *s = (cli_source){ .name = count == 1 ? names[0] : NULL };
  if (count == 0)
    return cli_this_machine(s);
  all = calloc(count, sizeof(*all));
  if (all == NULL) {
    cli_fail("out of memory");
    return CLI_NO;
  }
  code = open_all(all, names, count, form, warnings);
  if (code == CLI_OK && count == 1) {
    s->machine = all[0].machine;
    s->cluster = all[0].cluster;
    free(all);
    return code;
  }
  if (code == CLI_OK)
    code = name_all(all, count) ? join(&s->cluster, all, count) : CLI_NO;
  for (size_t i = 0; i < count; i++) {
    pai_topology_unref(all[i].machine);
    pai_cluster_free(all[i].cluster);
    free(all[i].called);
  }
  free(all);
  return code;
}

int cli_source_to_cluster(cli_source *s, const char *name)
{
  given one = { .name = s->name, .machine = s->machine };
  int code = CLI_NO;

  if (s->machine == NULL)
    return CLI_OK;
  if (name != NULL)
    one.called = strdup(name);
  if (one.called != NULL || name_all(&one, 1))
    code = join(&s->cluster, &one, 1);
  free(one.called);
  if (code == CLI_OK && s->marks != NULL)
    code = cli_mark_cluster(s);
  pai_topology_unref(s->machine);
  s->machine = NULL;
  return code;
}

const char **cli_source_names(char **words, int count)
{
  const char **names =
    calloc(cli_values.count + (size_t)count + 1, sizeof(*names));

  if (names == NULL) {
    cli_fail("out of memory");
    return NULL;
  }
  memcpy(names, cli_values.words, cli_values.count * sizeof(*names));
  for (int i = 0; i < count; i++)
    names[cli_values.count + (size_t)i] = words[i];
  return names;
}

void cli_source_close(cli_source *s)
{
  pai_topology_unref(s->machine);
  pai_cluster_free(s->cluster);
  pai_gpus_free(s->gpus);
  free(s->marks);
}
