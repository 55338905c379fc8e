/* cmd_doctor.c - what of the optional parts this machine has */
#include "cells.h"
#include "json.h"
#include "remote.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct part {
  const char *name;
  const char *program; /* looked for in PATH */
  const char *library; /* or: can it be loaded? */
  const char *file;    /* or: may this user use it? */
  const char *socket;  /* NULL, or where its daemon listens, */
  const char *at;      /* unless this variable says where */
  const char *gives;
  bool needed; /* without it no job runs */
} part;

typedef enum standing { MISSING, SILENT, FOUND } standing;

static const part parts[] = {
  { .name = "bash",
    .program = "bash",
    .gives = "the shell every task runs in",
    .needed = true },
  { .name = "NVIDIA GPU",
    .file = "/dev/nvidia0",
    .gives = "jobs that ask for GPUs" },
  { .name = "NVML",
    .library = "libnvidia-ml.so.1",
    .gives = "GPU models, memory and health" },
  { .name = "bubblewrap",
    .program = "bwrap",
    .gives = "tasks that see neither each other's files in /tmp nor the "
             "platform's own" },
  { .name = "podman",
    .program = "podman",
    .gives = "containers without root" },
  { .name = "docker",
    .program = "docker",
    .socket = "/var/run/docker.sock",
    .at = "DOCKER_HOST",
    .gives = "containers" },
  { .name = "sshd",
    .program = "sshd",
    .gives = "logging in to tasks: the plugin ssh" },
};

typedef struct report {
  char *bytes;
  size_t len;
} report;

enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

/* Where a program is; also looked for where daemons live. */
static bool find_program(const char *name, char *path, size_t size)
{
  const char *dirs = getenv("PATH");
  char all[8192];

  (void)snprintf(all, sizeof(all), "%s:/usr/sbin:/sbin",
                 dirs != NULL ? dirs : "/usr/bin:/bin");
  for (const char *d = all; *d != '\0';) {
    size_t len = strcspn(d, ":");
    (void)snprintf(path, size, "%.*s/%s", (int)len, d, name);
    if (len > 0 && access(path, X_OK) == 0)
      return true;
    d += len + (d[len] == ':');
  }
  return false;
}

static bool has_part(const part *p, char *where, size_t size)
{
  void *library;

  if (p->program != NULL)
    return find_program(p->program, where, size);
  if (p->file != NULL) {
    (void)snprintf(where, size, "%s", p->file);
    return access(p->file, R_OK | W_OK) == 0;
  }
  (void)snprintf(where, size, "%s", p->library);
  library = dlopen(p->library, RTLD_LAZY | RTLD_LOCAL);
  if (library == NULL)
    return false;
  (void)dlclose(library);
  return true;
}

static standing find_part(const part *p, char *where, size_t size)
{
  const char *at;

  if (!has_part(p, where, size))
    return MISSING;
  if (p->socket == NULL)
    return FOUND;
  at = getenv(p->at);
  if (at == NULL || at[0] == '\0')
    at = p->socket;
  else if (strncmp(at, "unix://", 7) == 0)
    at += 7;
  else
    return FOUND; /* another machine's */
  return cli_listens(at) ? FOUND : SILENT;
}

static void print_text(const part *p, standing s, const char *where)
{
  static const char *const words[] = { "missing", "silent", "found" };
  const char *color = s == FOUND    ? "\033[32m"
                      : s == SILENT ? "\033[33m"
                      : p->needed   ? "\033[1;31m"
                                    : "\033[2m";

  (void)printf("  %s%-8s%s %-12s %s\n", cli_style(stdout, color), words[s],
               cli_style(stdout, "\033[0m"), p->name, p->gives);
  if (s != MISSING)
    (void)printf("  %-8s %-12s at %s\n", "", "", where);
  if (s == SILENT)
    (void)printf("  %-8s %-12s its daemon does not answer: start it, or give "
                 "this user access to its socket\n",
                 "", "");
}

static void print_json(const part *p, standing s, const char *where,
                       bool first)
{
  bool found = s != MISSING;

  (void)printf("%s{\"name\":", first ? "" : ",");
  cli_json_string(stdout, p->name, strlen(p->name));
  (void)printf(",\"found\":%s,\"works\":%s,\"needed\":%s,\"where\":",
               found ? "true" : "false", s == FOUND ? "true" : "false",
               p->needed ? "true" : "false");
  if (found)
    cli_json_string(stdout, where, strlen(where));
  else
    (void)printf("null");
  (void)printf(",\"gives\":");
  cli_json_string(stdout, p->gives, strlen(p->gives));
  (void)printf("}");
}

/* --- GPUs ------------------------------------------------------------------- */

static const char *health_of(const pai_gpu_view *g)
{
  switch (g->health) {
  case PAI_GPU_HEALTHY: return "healthy";
  case PAI_GPU_WORN: return "worn";
  case PAI_GPU_SICK: return "sick";
  default: return "lost";
  }
}

static void print_gpu(const pai_gpu_view *g)
{
  bool good = g->health == PAI_GPU_HEALTHY;
  char name[32];

  (void)snprintf(name, sizeof(name), "%s %u",
                 g->parent == PAI_NO_GPU ? "GPU" : "MIG", (unsigned)g->number);
  (void)printf("  %s%-8s%s %-12s ",
               cli_style(stdout, good ? "\033[32m" : "\033[1;31m"),
               health_of(g), cli_style(stdout, "\033[0m"), name);
  cli_print(stdout, g->model[0] != '\0' ? g->model : "of unknown model");
  if (g->memory_total >= 0)
    (void)printf(", %lld MiB", (long long)(g->memory_total >> 20));
  if (g->processes != 0)
    (void)printf(", %zu process%s on it", g->processes,
                 g->processes == 1 ? "" : "es");
  (void)putchar('\n');
  if (good)
    return;
  (void)printf("  %-8s %-12s ", "", "");
  cli_print(stdout, g->reason);
  (void)putchar('\n');
}

static void print_json_text(const char *key, const char *value)
{
  (void)printf("\"%s\":", key);
  cli_json_string(stdout, value, strlen(value));
  (void)putchar(',');
}

static void print_gpu_json(const pai_gpu_view *g, bool first)
{
  (void)printf("%s{", first ? "" : ",");
  print_json_text("model", g->model);
  print_json_text("uuid", g->uuid);
  print_json_text("pci", g->pci);
  print_json_text("health", health_of(g));
  print_json_text("reason", g->reason);
  (void)printf("\"number\":%u,\"parent\":", (unsigned)g->number);
  if (g->parent == PAI_NO_GPU)
    (void)printf("null");
  else
    (void)printf("%u", (unsigned)g->parent);
  (void)printf(",\"memoryTotal\":");
  if (g->memory_total < 0)
    (void)printf("null");
  else
    (void)printf("%lld", (long long)g->memory_total);
  (void)printf(",\"processes\":%zu}", g->processes);
}

/* Why the list may be empty though there are GPUs. */
static void print_notes(const pai_gpus *gpus, bool json)
{
  const char *note;

  for (size_t i = 0; (note = pai_gpus_note(gpus, i)) != NULL; i++) {
    if (json) {
      (void)printf("%s", i == 0 ? "" : ",");
      cli_json_string(stdout, note, strlen(note));
    } else {
      (void)printf("  %snote:%s ", cli_style(stdout, "\033[1;33m"),
                   cli_style(stdout, "\033[0m"));
      cli_print(stdout, note);
      (void)putchar('\n');
    }
  }
}

static void print_gpus(bool json)
{
  pai_error *err;
  pai_gpus *gpus;

  if (pai_gpus_new(&gpus, NULL, &err) < 0) {
    cli_error(NULL, err);
    pai_error_free(err);
  }
  if (json)
    (void)printf("],\"gpus\":[");
  for (size_t i = 0; i < pai_gpus_count(gpus); i++) {
    pai_gpu_view g = { .struct_size = sizeof(g) };

    if (pai_gpus_get(gpus, i, &g) < 0)
      continue;
    if (json)
      print_gpu_json(&g, i == 0);
    else
      print_gpu(&g);
  }
  if (json)
    (void)printf("],\"notes\":[");
  print_notes(gpus, json);
  pai_gpus_free(gpus);
}

/* --- a root ------------------------------------------------------------------- */

static int take_text(void *user_data, const char *bytes, size_t len)
{
  report *text = user_data;
  char *more = realloc(text->bytes, text->len + len + 1);

  if (more == NULL)
    return PAI_ENOMEM;
  memcpy(more + text->len, bytes, len);
  text->bytes = more;
  text->len += len;
  more[text->len] = '\0';
  return PAI_OK;
}

/* Names of jobs, under what is said about them. */
static void print_names(const cli_json *j, const char *key, const char *what)
{
  size_t list = cli_json_get(j, 0, key);
  size_t n = list != 0 ? cli_json_first(j, list) : 0;

  if (n == 0)
    return;
  (void)printf("%s", what);
  for (; n != 0; n = cli_json_next(j, list, n))
    (void)printf(" %s", j->values[n].text);
  (void)putchar('\n');
}

static void print_repaired(const char *root, const report *text)
{
  cli_json j;

  if (!cli_json_read(&j, text->bytes, text->len))
    return;
  (void)printf("%s has a new database: %lld jobs, %lld rows", root,
               (long long)cli_json_number(&j, 0, "jobs", 0),
               (long long)cli_json_number(&j, 0, "rows", 0));
  if (cli_json_true(&j, 0, "holes"))
    (void)printf("; some of the old one could not be read");
  (void)putchar('\n');
  print_names(&j, "again",
              "Made again from their folders, without their job files:");
  print_names(&j, "lost", "Lost, submit again:");
  (void)printf("The old one is kept as %s\n", cli_json_text(&j, 0, "aside"));
  cli_json_free(&j);
}

static int repair(bool json)
{
  report text = { NULL, 0 };
  pai_error *err = NULL;
  char *root = cli_root_path();
  int code = CLI_NO;

  if (root == NULL)
    return CLI_NO;
  if (pai_platform_repair(root, take_text, &text, &err) < 0) {
    cli_error(root, err);
    pai_error_free(err);
  } else {
    code = CLI_OK;
    if (json)
      (void)printf("%s\n", text.bytes);
    else
      print_repaired(root, &text);
  }
  free(text.bytes);
  free(root);
  return code;
}

/* Whether what is secret in it can be read. */
static bool check_root(bool json)
{
  const char *root = cli_root != NULL ? cli_root : getenv("OPENPAI_ROOT");
  pai_error *err = NULL;
  bool good;
  int rc;

  if (root != NULL && root[0] == '\0')
    root = NULL;
  rc = pai_platform_check_key(root, &err);
  good = rc == PAI_OK || rc == PAI_ENOTFOUND; /* no home, and so no root */
  if (json)
    (void)printf("],\"key\":%s", good ? "null" : "{\"message\":");
  if (json && !good) {
    const char *text = pai_error_message(err), *help = pai_error_help(err);
    cli_json_string(stdout, text, strlen(text));
    (void)printf(",\"help\":");
    if (help != NULL)
      cli_json_string(stdout, help, strlen(help));
    else
      (void)printf("null");
    (void)putchar('}');
  } else if (!good) {
    (void)fflush(stdout);
    cli_error(root, err);
  }
  pai_error_free(err);
  return good;
}

/* --- the verb ------------------------------------------------------------------ */

static int examine(bool json)
{
  bool healthy = true, root;

  if (json)
    (void)printf("{\"version\":\"%s\",\"parts\":[", pai_version());
  else
    (void)printf("openpai %s on this machine, and what each part gives:\n",
                 pai_version());
  for (size_t i = 0; i < PARTS; i++) {
    char where[4096];
    standing found = find_part(&parts[i], where, sizeof(where));

    healthy = healthy && (found != MISSING || !parts[i].needed);
    if (json)
      print_json(&parts[i], found, where, i == 0);
    else
      print_text(&parts[i], found, where);
  }
  print_gpus(json);
  root = check_root(json);
  if (json)
    (void)printf(",\"healthy\":%s}\n", healthy && root ? "true" : "false");
  else if (healthy && !root)
    (void)printf(
      "Jobs can run here, but stored secrets cannot be decrypted.\n");
  else
    (void)printf("%s\n",
                 healthy ? "Jobs can run here."
                         : "Jobs cannot run here: install the missing parts.");
  return healthy && root ? CLI_OK : CLI_NO;
}

static int run(int argc, char **argv)
{
  bool json = false, wants_repair = false;
  const cli_option options[] = { { "json", 0, &json, NULL },
                                 { "repair", 0, &wants_repair, NULL },
                                 { "root", 0, NULL, &cli_root } };
  int words = cli_options(&cli_doctor, options, 3, argc, argv);

  if (words < 0)
    return words == -2 ? CLI_OK : CLI_USAGE;
  if (words > 0) {
    cli_fail("doctor takes no argument: %s", argv[0]);
    return CLI_USAGE;
  }
  return wants_repair ? repair(json) : examine(json);
}

const cli_verb cli_doctor = {
  .name = "doctor",
  .brief = "Show which optional parts this machine has",
  .usage = "[--json] [--repair] [--root DIR]",
  .help =
    "Also check the key of the platform's root: whether it exists, and\n"
    "whether it decrypts the secrets in the database.\n"
    "\n"
    "  --json      print one JSON object\n"
    "  --repair    make a new database from the readable parts of a broken\n"
    "              one; the broken one is kept beside it\n"
    "  --root DIR  the platform's root (default: $OPENPAI_ROOT, or\n"
    "              $XDG_STATE_HOME/openpai, or ~/.local/state/openpai)\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 jobs can run, or the repair succeeded; 1 a needed part\n"
    "or the key is missing, the repair failed, or output cannot be\n"
    "written; 2 usage error\n",
  .run = run,
};
