/* cmd_doctor.c - `doctor`: which optional parts this machine has */
#include "cells.h"
#include "json.h"
#include "remote.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct part {
  const char *name;
  const char *program; /* to find in PATH */
  const char *library; /* or a library to load */
  const char *file;    /* or a file that this user must be able to use */
  const char *socket;  /* NULL, or where the part's daemon listens */
  const char *at;      /* environment variable that overrides `socket` */
  const char *gives;
  bool needed; /* required to run jobs */
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

/* Finds a program in PATH and in the folders of daemons. */
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
    return FOUND; /* on another machine */
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
  (void)printf("%s", first ? "" : ",");
  cli_json_print(stdout,
                 "{\"name\":%s,\"found\":%c,\"works\":%c,\"needed\":%c,"
                 "\"where\":%s,\"gives\":%s}",
                 p->name, cli_truth(s != MISSING), cli_truth(s == FOUND),
                 cli_truth(p->needed), s != MISSING ? where : NULL, p->gives);
}

/* --- GPUs ---------------------------------------------------------------- */

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

static void print_gpu_json(const pai_gpu_view *g, bool first)
{
  (void)printf("%s", first ? "" : ",");
  cli_json_print(
    stdout,
    "{\"model\":%s,\"uuid\":%s,\"pci\":%s,\"health\":%s,\"reason\":%s,"
    "\"number\":%u,\"parent\":%lld,\"memoryTotal\":%lld,\"processes\":%zu}",
    g->model, g->uuid, g->pci, health_of(g), g->reason, (unsigned)g->number,
    g->parent == PAI_NO_GPU ? (long long)CLI_NULL : (long long)g->parent,
    (long long)cli_known_or_null(g->memory_total), g->processes);
}

/* Prints why the list may be empty although there are GPUs. */
static void print_notes(const pai_gpus *gpus, bool json)
{
  const char *note;

  for (size_t i = 0; (note = pai_gpus_note(gpus, i)) != NULL; i++) {
    if (json) {
      (void)printf("%s", i == 0 ? "" : ",");
      cli_json_print(stdout, "%s", note);
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
    (void)cli_fail_with(NULL, err);
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

/* --- a root -------------------------------------------------------------- */

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

/* Prints names of jobs below a heading. */
static void print_names(const pai_json *j, const char *key, const char *what)
{
  const char *before = what;

  for (cli_each e = cli_each_of(j, cli_json_get(j, 0, key)); cli_next(&e);
       before = "")
    (void)printf("%s %s", before, cli_json_text(j, e.at, ""));
  if (before != what)
    (void)putchar('\n');
}

static void print_repaired(const char *root, const report *text)
{
  pai_json *j;

  if (!cli_json_read(&j, text->bytes, text->len))
    return;
  (void)printf("%s has a new database: %lld jobs, %lld rows", root,
               (long long)cli_json_number(j, 0, "jobs", 0),
               (long long)cli_json_number(j, 0, "rows", 0));
  if (cli_json_true(j, 0, "holes"))
    (void)printf("; some of the old one could not be read");
  (void)putchar('\n');
  print_names(j, "again",
              "Restored from their folders, without their job files:");
  print_names(j, "lost", "Lost, submit again:");
  print_names(j, "stopped", "Stopped before they started, not restored:");
  if (cli_json_number(j, 0, "rows", 0) == 0)
    (void)printf("Waiting jobs that ask for more than the machine has are not "
                 "listed: no other file has them.\n");
  (void)printf("The old one is kept as %s\n", cli_json_text(j, 0, "aside"));
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
    (void)cli_fail_with(root, err);
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

static void print_fault_json(const char *key, const pai_error *err)
{
  if (err == NULL)
    cli_json_print(stdout, "%s:null", key);
  else
    cli_json_print(stdout, "%s:{\"message\":%s,\"help\":%s}", key,
                   pai_error_message(err), pai_error_help(err));
}

typedef struct root_check {
  bool key;       /* stored secrets can be decrypted */
  bool failures;  /* failures.yaml is valid */
  bool unchecked; /* failures.yaml could not be read */
} root_check;

static bool is_unchecked(const pai_error *failures)
{
  int code = pai_error_code(failures);

  return code == PAI_EPERM || code == PAI_EIO;
}

static root_check check_root(bool json)
{
  const char *root = cli_root != NULL ? cli_root : getenv("OPENPAI_ROOT");
  pai_error *key = NULL, *failures = NULL;
  root_check found;
  int rc;

  if (root != NULL && root[0] == '\0')
    root = NULL;
  rc = pai_platform_check_key(root, &key);
  if (rc == PAI_ENOTFOUND) { /* no home folder, and so no root */
    pai_error_free(key);
    key = NULL;
  } else {
    (void)!pai_platform_check_failures(root, &failures);
  }
  if (json) {
    (void)printf("],");
    print_fault_json("key", key);
    (void)putchar(',');
    print_fault_json("failures", failures);
  } else {
    (void)fflush(stdout);
    if (key != NULL)
      cli_error(root, key);
    if (failures != NULL)
      cli_error(NULL, failures);
  }
  found =
    (root_check){ .key = key == NULL,
                  .failures = failures == NULL,
                  .unchecked = failures != NULL && is_unchecked(failures) };
  pai_error_free(key);
  pai_error_free(failures);
  return found;
}

/* Prints the problems of the root; returns whether there are any. */
static bool tell_root(root_check root)
{
  if (root.unchecked)
    (void)printf("failures.yaml was not checked: it cannot be read.\n");
  else if (!root.failures)
    (void)printf("Jobs can run here when failures.yaml is corrected: the "
                 "platform does not start before.\n");
  if (!root.key)
    (void)printf("%stored secrets cannot be decrypted.\n",
                 root.failures ? "Jobs can run here, but s" : "S");
  return !root.key || !root.failures;
}

/* --- the verb ------------------------------------------------------------ */

static int examine(bool json)
{
  bool healthy = true, good;
  root_check root;

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
  good = healthy && root.key && root.failures;
  if (json)
    (void)printf(",\"healthy\":%s}\n", good ? "true" : "false");
  else if (!healthy || !tell_root(root))
    (void)printf("%s\n",
                 healthy ? "Jobs can run here."
                         : "Jobs cannot run here: install the missing parts.");
  return good ? CLI_OK : CLI_NO;
}

int cli_do_doctor(const cli_doctor_args *a)
{
  return a->repair ? repair(a->json) : examine(a->json);
}
