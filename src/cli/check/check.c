/* check.c - loop and output formats of `spec check` and `cluster check` */
#include "check.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

static const struct {
  const char *code, *means;
} codes[] = {
  { "auth-file", "Protocol v2 does not read files with registry credentials" },
  { "auth-incomplete", "An account has no username or no password" },
  { "auth-registry", "An account has no registry" },
  { "bad-address", "Not an IPv4 address" },
  { "bad-device", "The address of a leaf cell is not a device number" },
  { "bad-hostname", "Not a valid host name" },
  { "bad-item", "An item does not have the required form" },
  { "bad-name", "A name has characters that are not allowed" },
  { "bad-part", "Not a valid share of the capacity" },
  { "bad-quantity", "Not a Kubernetes quantity" },
  { "bad-range", "Not a valid range of names" },
  { "bad-role", "The role of a machine is neither true nor false" },
  { "bad-size", "Not an amount of memory" },
  { "bad-template", "A template in a command cannot be parsed" },
  { "below-node", "A cell below a node is at the top level" },
  { "child-count", "A cell has a different number of cells than its type" },
  { "code-dir", "Protocol v2 does not copy the code folder" },
  { "cpu-only", "Nodes without GPUs cannot be used by virtual clusters" },
  { "cycle", "A cell type would contain itself" },
  { "duplicate", "Two nodes, GPUs, cells, pins or addresses are the same" },
  { "duplicate-key", "A key appears twice in a mapping" },
  { "duplicate-name", "Two objects have the same name" },
  { "empty", "A text must not be empty" },
  { "env-acted-on", "OpenPAI no longer acts on this variable" },
  { "env-name", "A shell cannot set a variable of this name" },
  { "extras", "Job config v1 ignored this field of extras; v2 does not" },
  { "flat-node", "The GPU groups of a node are not given" },
  { "folder-variables",
    "A folder's variables have other values in protocol v2" },
  { "gpu-type", "Protocol v2 has no GPU type for a whole job" },
  { "group-mismatch",
    "Task roles of one HiveD group request different cells" },
  { "hived-instances", "HiveD requires the number of instances" },
  { "in-no-cell", "Nodes or GPUs belong to no cell" },
  { "job-name", "Protocol v2 does not allow this job name" },
  { "leaf-at-top", "A leaf cell is at the top level" },
  { "limit", "The file, or what it describes, exceeds a limit" },
  { "missing-key", "A required field is missing" },
  { "negative", "A number of tasks is negative" },
  { "no-capacity", "A node has no capacity" },
  { "no-effect", "A setting has no effect" },
  { "no-gpus", "A node that should have GPUs has none" },
  { "no-json", "JSON cannot express this value" },
  { "no-master", "No machine of a layout is the master" },
  { "no-nodes", "A cluster has no nodes" },
  { "no-reserve", "No resources are reserved for the system" },
  { "no-tasks", "A task role has no tasks" },
  { "no-worker", "No machine of a layout is a worker" },
  { "node-without-name", "A HiveD node has a number instead of a name" },
  { "not-allowed", "The value is not one of the allowed values" },
  { "not-enough-cells", "Virtual clusters request more cells than exist" },
  { "not-in-chain", "A cell type does not contain cells of another type" },
  { "object-text", "A template is filled in with a mapping" },
  { "odd-group", "The GPUs cannot be divided into groups of this size" },
  { "odd-path", "A part of a cell path is ignored" },
  { "old-layout", "A layout of OpenPAI before 1.0" },
  { "old-unit", "A memory unit of old layouts" },
  { "out-of-range", "A task index is out of range" },
  { "out-of-reach", "A number of tasks exceeds that of the role" },
  { "pin-in-pin", "A pinned cell is inside another pinned cell" },
  { "pin-of-part", "A pin covers only some GPUs of a node" },
  { "port-begin", "Protocol v2 chooses port numbers itself" },
  { "port-collision", "Ports overlap" },
  { "port-count", "A label has an unusually large number of ports" },
  { "port-label", "Protocol v2 does not allow this port label" },
  { "refused", "The answer is an error, not a list of nodes" },
  { "retry-count", "Protocol v2 has no negative number of retries" },
  { "role-collision", "OpenPAI's runtime cannot distinguish two task roles" },
  { "role-name", "OpenPAI's runtime cannot start a task role of this name" },
  { "same-address", "Two nodes have the same address" },
  { "same-uuid", "GPUs of two nodes have the same UUID" },
  { "shared-gpu", "Two cells are the same GPU" },
  { "shared-name", "Prerequisites of two types have the same name" },
  { "ssh-without-gang", "ssh between tasks that do not start together" },
  { "syntax", "The file is neither YAML nor JSON" },
  { "too-few", "A list or mapping must not be empty" },
  { "too-fine", "A number has more than three decimals" },
  { "too-large", "A number is too large" },
  { "too-long", "A text is too long" },
  { "too-many", "A list has too many entries" },
  { "too-small", "A number is too small" },
  { "two-masters", "Two machines of a layout are the master" },
  { "two-nodes", "A node is inside another node" },
  { "two-roles", "A machine of a layout is both master and worker" },
  { "unclear-cell", "The cell type is ambiguous" },
  { "unknown-cell-type", "Unknown cell type" },
  { "unknown-chain", "No cell of this type is at the top level" },
  { "unknown-form", "Unknown format of a cluster file" },
  { "unknown-gpu", "The node has no such GPU" },
  { "unknown-key", "Unknown field" },
  { "unknown-name", "A name refers to nothing" },
  { "unknown-node", "The cluster has no such node" },
  { "unknown-pin", "No cell is pinned with this name" },
  { "unknown-plugin", "OpenPAI has no such plugin" },
  { "unknown-secret", "A template names a secret that does not exist" },
  { "unknown-sku", "Unknown SKU" },
  { "unquoted", "A text needs quotes" },
  { "unreadable", "The file could not be read" },
  { "unresolved", "A template names an unknown value" },
  { "unshared", "Cells belong to no virtual cluster" },
  { "unused-chain", "No virtual cluster uses a chain" },
  { "unused-parameter", "A parameter is not used" },
  { "unused-sku", "No node or leaf cell has this SKU" },
  { "wrong-kind", "A Kubernetes object that is not a node" },
  { "wrong-type", "The value has the wrong type" },
  { "zero", "A number must not be 0" },
};

/* Returns the meaning of a code, in a line; NULL for a code of a newer
 * library. */
static const char *cli_code_means(const char *code)
{
  for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
    if (strcmp(codes[i].code, code) == 0)
      return codes[i].means;
  return NULL;
}

static const char *level_of(const pai_diagnostic *d)
{
  return d->severity == PAI_SEVERITY_ERROR ? "error" : "warning";
}

/* Returns the finding reported for a file that could not be read. */
static pai_diagnostic unreadable(const cli_file *file)
{
  return (pai_diagnostic){ .struct_size = sizeof(pai_diagnostic),
                           .severity = PAI_SEVERITY_ERROR,
                           .code = "unreadable",
                           .pointer = "",
                           .line = 1,
                           .column = 1,
                           .end_line = 1,
                           .end_column = 1,
                           .message = file->why };
}

/* --- JSON ---------------------------------------------------------------- */

static void json_begin(void)
{
  (void)printf("[");
}

static void json_fix(const pai_fix *fix, bool first)
{
  (void)printf("%s", first ? "" : ",");
  cli_json_print(stdout, "{\"title\":%s,\"sure\":%c,\"edits\":[", fix->title,
                 fix->sure);
  for (size_t i = 0; i < fix->edit_count; i++) {
    const pai_text_edit *e = fix->edits[i];

    (void)printf("%s", i > 0 ? "," : "");
    cli_json_print(stdout,
                   "{\"line\":%u,\"column\":%u,\"endLine\":%u,"
                   "\"endColumn\":%u,\"text\":%s}",
                   e->line, e->column, e->end_line, e->end_column, e->text);
  }
  (void)printf("]}");
}

static void json_finding(const pai_diagnostic *d)
{
  cli_json_print(stdout,
                 "{\"severity\":%s,\"code\":%s,\"pointer\":%s,\"line\":%u,"
                 "\"column\":%u,\"endLine\":%u,\"endColumn\":%u,"
                 "\"message\":%s,\"help\":%s,\"fixes\":[",
                 level_of(d), d->code, d->pointer, d->line, d->column,
                 d->end_line, d->end_column, d->message, d->help);
  for (size_t i = 0; i < d->fix_count; i++)
    json_fix(d->fixes[i], i == 0);
  (void)printf("]}");
}

static void json_file(const cli_file *file, const cli_check_counts *counts)
{
  int version = file->report != NULL ? pai_report_version(file->report) : 0;
  bool valid = file->report != NULL && pai_report_valid(file->report);
  const pai_diagnostic *d;

  (void)printf("%s\n", counts->files > 1 ? "," : "");
  cli_json_print(stdout, "{\"file\":%s,\"version\":%lld", file->name,
                 version == 0 ? (long long)CLI_NULL : version);
  if (file->is_cluster)
    cli_json_print(stdout, ",\"form\":%s",
                   file->form[0] != '\0' ? file->form : NULL);
  cli_json_print(stdout, ",\"valid\":%c,\"diagnostics\":[", cli_truth(valid));
  if (file->report == NULL) {
    pai_diagnostic u = unreadable(file);
    json_finding(&u);
  } else {
    for (size_t i = 0; (d = pai_report_get(file->report, i)) != NULL; i++) {
      (void)printf("%s", i > 0 ? "," : "");
      json_finding(d);
    }
  }
  (void)printf("]}");
}

static void json_end(const cli_check_counts *counts)
{
  (void)counts;
  (void)printf("\n]\n");
}

const cli_form cli_form_json = { json_begin, json_file, json_end };

/* --- SARIF --------------------------------------------------------------- */

/* Prints a name as a file reference: an absolute path as a URI, another one
 * relative to the current folder. */
static void print_uri(const char *name)
{
  (void)printf("\"%s", name[0] == '/' ? "file://" : "");
  for (const char *p = name; *p != '\0'; p++)
    if ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
        (*p >= '0' && *p <= '9') || strchr("-._~/", *p) != NULL)
      (void)putchar(*p);
    else
      (void)printf("%%%02X", (unsigned)(unsigned char)*p);
  (void)printf("\"");
}

static void sarif_begin(void)
{
  (void)printf("{\"$schema\":\"https://json.schemastore.org/"
               "sarif-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{"
               "\"columnKind\":\"unicodeCodePoints\",\"results\":[");
}

static void print_region(uint32_t line, uint32_t column, uint32_t end_line,
                         uint32_t end_column)
{
  cli_json_print(stdout,
                 "{\"startLine\":%u,\"startColumn\":%u,\"endLine\":%u,"
                 "\"endColumn\":%u}",
                 line, column, end_line, end_column);
}

static void sarif_fixes(const cli_file *file, const pai_diagnostic *d)
{
  (void)printf(",\"fixes\":[");
  for (size_t i = 0; i < d->fix_count; i++) {
    const pai_fix *fix = d->fixes[i];

    (void)printf("%s", i > 0 ? "," : "");
    cli_json_print(stdout,
                   "{\"description\":{\"text\":%s},\"artifactChanges\":[{"
                   "\"artifactLocation\":{\"uri\":",
                   fix->title);
    print_uri(file->name);
    (void)printf("},\"replacements\":[");
    for (size_t k = 0; k < fix->edit_count; k++) {
      const pai_text_edit *e = fix->edits[k];

      (void)printf("%s{\"deletedRegion\":", k > 0 ? "," : "");
      print_region(e->line, e->column, e->end_line, e->end_column);
      cli_json_print(stdout, ",\"insertedContent\":{\"text\":%s}}", e->text);
    }
    (void)printf("]}]}");
  }
  (void)printf("]");
}

/* A file that could not be read has no region. */
static void sarif_result(const cli_file *file, const pai_diagnostic *d,
                         bool first)
{
  (void)printf("%s\n", first ? "" : ",");
  cli_json_print(stdout,
                 "{\"ruleId\":%s,\"level\":%s,\"message\":{\"text\":%s},"
                 "\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{"
                 "\"uri\":",
                 d->code, level_of(d), d->message);
  print_uri(file->name);
  (void)printf("}");
  if (file->report != NULL) {
    (void)printf(",\"region\":");
    print_region(d->line, d->column, d->end_line, d->end_column);
  }
  (void)printf("}");
  if (d->pointer[0] != '\0')
    cli_json_print(stdout,
                   ",\"logicalLocations\":[{\"fullyQualifiedName\":%s}]",
                   d->pointer);
  (void)printf("}]");
  if (d->help != NULL)
    cli_json_print(stdout, ",\"properties\":{\"help\":%s}", d->help);
  if (d->fix_count > 0)
    sarif_fixes(file, d);
  (void)printf("}");
}

static void sarif_file(const cli_file *file, const cli_check_counts *counts)
{
  size_t count = 1;
  const pai_diagnostic *d;
  /* The number of results before this file. */
  size_t before = counts->errors + counts->warnings + counts->unread;

  if (file->report == NULL) {
    pai_diagnostic u = unreadable(file);
    sarif_result(file, &u, before == count);
    return;
  }
  count = pai_report_count(file->report);
  for (size_t i = 0; (d = pai_report_get(file->report, i)) != NULL; i++)
    sarif_result(file, d, i == 0 && before == count);
}

/* The rules are known only at the end, and the order of JSON keys is free. */
static void sarif_end(const cli_check_counts *counts)
{
  const char *means;

  cli_json_print(
    stdout,
    "\n],\"tool\":{\"driver\":{\"name\":\"openpai\",\"version\":%s,"
    "\"rules\":[",
    pai_version());
  for (size_t i = 0; i < counts->ncodes; i++) {
    (void)printf("%s", i > 0 ? "," : "");
    cli_json_print(stdout, "{\"id\":%s", counts->codes[i]);
    means = cli_code_means(counts->codes[i]);
    if (means != NULL)
      cli_json_print(stdout, ",\"shortDescription\":{\"text\":%s}", means);
    (void)printf("}");
  }
  cli_json_print(stdout,
                 "]}},\"invocations\":[{\"executionSuccessful\":%c}]}]}\n",
                 cli_truth(counts->unread == 0));
}

const cli_form cli_form_sarif = { sarif_begin, sarif_file, sarif_end };

/* --- text ---------------------------------------------------------------- */

static void text_begin(void)
{
}

static void text_file(const cli_file *file, const cli_check_counts *counts)
{
  (void)counts;
  if (file->report != NULL)
    cli_print_findings(stdout, file->name, file->report);
}

/* Prints ", 2 errors", with the separator if needed; nothing for 0. */
static void print_count(size_t count, const char *what, const char **comma)
{
  if (count == 0)
    return;
  (void)printf("%s%zu %s%s", *comma, count, what, count == 1 ? "" : "s");
  *comma = ", ";
}

static void text_end(const cli_check_counts *t)
{
  const char *comma = "";

  if (t->files == 1 && (t->unread > 0 || !cli_is_terminal(stdout)))
    return;
  print_count(t->errors, "error", &comma);
  print_count(t->warnings, "warning", &comma);
  if (t->with_findings == 0)
    (void)printf("nothing wrong");
  if (t->files > 1 && t->with_findings == 0)
    (void)printf(" in %zu files", t->files - t->unread);
  else if (t->files > 1)
    (void)printf(" in %zu of %zu files", t->with_findings,
                 t->files - t->unread);
  if (t->unread > 0)
    (void)printf("; %zu could not be read", t->unread);
  (void)printf("\n");
}

static const cli_form form_text = { text_begin, text_file, text_end };

/* --- quiet --------------------------------------------------------------- */

static void quiet_file(const cli_file *file, const cli_check_counts *counts)
{
  (void)file;
  (void)counts;
}

static void quiet_end(const cli_check_counts *counts)
{
  (void)counts;
}

static const cli_form form_quiet = { text_begin, quiet_file, quiet_end };

/* --- all files ----------------------------------------------------------- */

static bool count_code(cli_check_counts *t, const char *code)
{
  size_t at = 0;
  char **more, *copy;

  while (at < t->ncodes && strcmp(t->codes[at], code) < 0)
    at++;
  if (at < t->ncodes && strcmp(t->codes[at], code) == 0)
    return true;
  copy = strdup(code);
  more = realloc(t->codes, (t->ncodes + 1) * sizeof(*more));
  if (more != NULL)
    t->codes = more;
  if (copy == NULL || more == NULL) {
    free(copy);
    return false;
  }
  memmove(more + at + 1, more + at, (t->ncodes - at) * sizeof(*more));
  more[at] = copy;
  t->ncodes++;
  return true;
}

/* Counts a file; returns false if memory is short. */
static bool count_file(cli_check_counts *t, const cli_file *file)
{
  const pai_diagnostic *d;

  t->files++;
  if (file->report == NULL) {
    t->unread++;
    return count_code(t, "unreadable");
  }
  t->with_findings += pai_report_count(file->report) > 0;
  for (size_t i = 0; (d = pai_report_get(file->report, i)) != NULL; i++) {
    if (d->severity == PAI_SEVERITY_ERROR)
      t->errors++;
    else
      t->warnings++;
    if (!count_code(t, d->code))
      return false;
  }
  return true;
}

static bool check_file(cli_check_counts *t, const cli_check *how,
                       const char *name)
{
  cli_file file;
  bool counted;

  how->open(&file, name, how->options);
  counted = count_file(t, &file);
  if (counted)
    how->form->file(&file, t);
  if (file.report == NULL && cli_written()) /* after the output before it */
    cli_say(PAI_LOG_ERROR, file.why);
  pai_report_free(file.report);
  return counted;
}

int cli_check_files(const cli_check *how, char **names, int count)
{
  cli_check_counts t = { 0 };
  bool counted = true;

  how->form->begin();
  for (int i = 0; counted && i < count; i++)
    counted = check_file(&t, how, names[i]);
  if (counted)
    how->form->end(&t);
  else
    cli_fail("out of memory");
  for (size_t i = 0; i < t.ncodes; i++)
    free(t.codes[i]);
  free(t.codes);
  if (!counted || t.unread > 0)
    return CLI_USAGE;
  return t.errors > 0 || (how->strict && t.warnings > 0) ? CLI_NO : CLI_OK;
}

const cli_form *cli_check_form(const cli_check_options *o)
{
  return o->json    ? &cli_form_json
         : o->sarif ? &cli_form_sarif
         : o->quiet ? &form_quiet
                    : &form_text;
}
