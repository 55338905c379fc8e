/*
 * source.c - opening the machines and clusters given to verbs
 *
 * Only this file decides whether a name is a description or a file, and
 * whether it is a machine or a cluster.
 */
#include "source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Whether both are the same GPU.  Of an unreachable GPU the inventory knows
 * only the number. */
static bool is_same(const pai_topology_gpu *a, const pai_gpu_view *b)
{
  const char *vendor = b->vendor == PAI_GPU_NVIDIA ? "NVIDIA" : "AMD";

  if (b->pci[0] == '\0' && b->uuid[0] == '\0')
    return a->index == b->number && strcmp(a->vendor, vendor) == 0;
  return (b->pci[0] != '\0' && strcmp(a->pci, b->pci) == 0) ||
         (b->uuid[0] != '\0' && strcmp(a->uuid, b->uuid) == 0);
}

/* Returns the topology's number of a GPU of the inventory, or PAI_NONE. */
static uint32_t find_gpu(const pai_topology *t, const pai_gpu_view *gpu)
{
  pai_topology_gpu g = { .struct_size = sizeof(g) };

  for (uint32_t i = 0; pai_topology_view_gpu(t, i, &g) == PAI_OK; i++)
    if (is_same(&g, gpu))
      return i;
  return PAI_NONE;
}

/* Warns of a broken GPU that is not in the topology. */
static void tell_of(const pai_gpu_view *gpu)
{
  const char *pci = gpu->pci;
  char what[512];

  (void)snprintf(
    what, sizeof(what), "GPU %u%s%s is broken, and not visible: %s",
    (unsigned)gpu->number, pci[0] != '\0' ? ", " : "", pci, gpu->reason);
  cli_say(PAI_LOG_WARNING, what);
}

/* Returns false if memory is short. */
static bool mark(cli_source *s, const pai_gpu_view *gpu)
{
  uint32_t at = find_gpu(s->machine, gpu);

  if (at == PAI_NONE) {
    tell_of(gpu);
    return true;
  }
  if (s->marks == NULL)
    s->marks = calloc(s->mark_count, sizeof(*s->marks));
  if (s->marks == NULL)
    return false;
  s->marks[at] = (pai_gpu_mark){ PAI_MARK_SICK, gpu->reason };
  return true;
}

/* Notes usable GPUs that the system hides from device enumeration. */
static void tell_hidden(const cli_source *s)
{
  pai_gpu_view gpu = { .struct_size = sizeof(gpu) };
  size_t hidden = 0;
  char what[128];

  for (size_t i = 0; pai_gpus_get(s->gpus, i, &gpu) == PAI_OK; i++)
    hidden += gpu.parent == PAI_NO_GPU && gpu.health < PAI_GPU_SICK &&
              find_gpu(s->machine, &gpu) == PAI_NONE;
  if (hidden == 0)
    return;
  (void)snprintf(what, sizeof(what),
                 "the driver knows %zu GPU%s more: the system does not show "
                 "where %s",
                 hidden, hidden == 1 ? "" : "s",
                 hidden == 1 ? "it is" : "they are");
  cli_say(PAI_LOG_INFO, what);
}

static bool mark_all(cli_source *s)
{
  pai_topology_summary sums = { .struct_size = sizeof(sums) };
  pai_gpu_view gpu = { .struct_size = sizeof(gpu) };
  const char *note;

  (void)pai_topology_summarize(s->machine, &sums);
  s->mark_count = sums.gpus;
  for (size_t i = 0; pai_gpus_get(s->gpus, i, &gpu) == PAI_OK; i++)
    if (gpu.parent == PAI_NO_GPU && gpu.health >= PAI_GPU_SICK &&
        !mark(s, &gpu))
      return false;
  if (s->marks == NULL)
    s->mark_count = 0;
  tell_hidden(s);
  for (size_t i = 0; (note = pai_gpus_note(s->gpus, i)) != NULL; i++)
    cli_say(PAI_LOG_INFO, note);
  return true;
}

/* Opens this machine, with the state of its GPUs from their drivers. */
static int cli_this_machine(cli_source *s)
{
  pai_topology_options opts = PAI_TOPOLOGY_OPTIONS_INIT;
  pai_error *err = NULL;
  int rc = pai_gpus_new(&s->gpus, NULL, &err);

  opts.gpus = s->gpus;
  if (rc == PAI_OK)
    rc = pai_topology_discover(&s->machine, &opts, &err);
  if (rc < 0) {
    return cli_fail_with(NULL, err);
  }
  if (mark_all(s))
    return CLI_OK;
  cli_fail("out of memory");
  return CLI_NO;
}

/* Marks the GPUs of a cluster that was made of this machine. */
static int cli_mark_cluster(const cli_source *s)
{
  pai_node_gpu_view gpu = { .struct_size = sizeof(gpu) };

  for (size_t i = 0; pai_cluster_view_gpu(s->cluster, 0, i, &gpu) == PAI_OK;
       i++)
    if (gpu.number < s->mark_count &&
        s->marks[gpu.number].state == PAI_MARK_SICK &&
        pai_cluster_set_sick(s->cluster, 0, (long)i,
                             s->marks[gpu.number].text) < 0) {
      cli_fail("out of memory");
      return CLI_NO;
    }
  return CLI_OK;
}

enum { MOST = 64 << 20 }; /* most bytes that the library accepts */

/* One of several machines or clusters. */
typedef struct given {
  const char *name;
  pai_topology *machine;
  pai_cluster *cluster;
  char *called; /* name of the machine in the cluster */
} given;

static const char machine_prefix[] = "hwloc:";

/* Whether a name is the description of a cluster, such as "racks:2 nodes:16":
 * one of its words begins with "nodes:". */
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

/* Whether a text begins with an XML tag; YAML's merge key begins with "<<". */
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

/* --- cluster files ------------------------------------------------------- */

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

bool cli_is_form(const char *form)
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
      (void)fprintf(stderr, "  help: openpai %s --help\n", cli_verb_now->name);
  }
  pai_error_free(err);
  return rc == PAI_OK;
}

/* --- one name ------------------------------------------------------------ */

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
  char *text = NULL;
  size_t len = 0;
  int error = cli_read_file(&text, &len, g->name, MOST), code = CLI_OK;
  pai_error *err;

  if (error != 0) {
    code = cli_read_fail(g->name, error);
    if (error == ENOENT && strchr(g->name, ':') != NULL)
      cli_help(stderr, "a description of a cluster has 'nodes:N' in it, one "
                       "of a machine begins with 'hwloc:'");
  } else if (form != NULL || !is_xml(text, len)) {
    code = read_cluster(g, text != NULL ? text : "", len, form, warnings);
  } else if (pai_topology_parse_xml(&g->machine, text, len, NULL, &err) < 0) {
    code = cli_fail_with(cli_shown_name(g->name), err);
  }
  free(text);
  return code;
}

static int open_one(given *g, const char *form, bool warnings)
{
  const char *name = g->name;
  pai_error *err;

  if (is_cluster_line(name)) /* its error names the bad word */
    return pai_cluster_synthetic(&g->cluster, name, NULL, &err) < 0
             ? cli_fail_with(NULL, err)
             : CLI_OK;
  if (!is_machine_line(name))
    return read_one(g, form, warnings);
  return pai_topology_synthetic(&g->machine, name + sizeof(machine_prefix) - 1,
                                NULL, &err) < 0
           ? cli_fail_with(name, err)
           : CLI_OK;
}

/* --- names of machines --------------------------------------------------- */

/* The name in the machine's topology, or "". */
static const char *own_name(const pai_topology *machine)
{
  pai_topology_summary view = { .struct_size = sizeof(view), .name = "" };

  (void)pai_topology_summarize(machine, &view);
  return view.name;
}

/* Returns the file's name without folders and the last suffix, or "machine-2"
 * for a description or standard input; for free(). */
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

/* Machines whose topologies have the same name are named after their files. */
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
    code = cli_fail_with(NULL, err);
  free(machines);
  return code;
}

/* --- several names ------------------------------------------------------- */

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

/* Reports the errors of all inputs and returns the worst exit code. */
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

int cli_source_cluster(cli_source *s, const char *name)
{
  int code = cli_source_open(s, &name, 1, NULL, false);

  return code == CLI_OK ? cli_source_to_cluster(s, NULL) : code;
}

const char **cli_source_names(const cli_words *from, char **words, int count)
{
  const char **names = calloc(from->count + (size_t)count + 1, sizeof(*names));

  if (names == NULL) {
    cli_fail("out of memory");
    return NULL;
  }
  memcpy(names, from->words, from->count * sizeof(*names));
  for (int i = 0; i < count; i++)
    names[from->count + (size_t)i] = words[i];
  return names;
}

void cli_source_close(cli_source *s)
{
  pai_topology_unref(s->machine);
  pai_cluster_free(s->cluster);
  pai_gpus_free(s->gpus);
  free(s->marks);
}
