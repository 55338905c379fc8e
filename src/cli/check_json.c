/* check_json.c - what was found in files, as JSON and as SARIF 2.1.0 */
#include "check.h"

#include <string.h>

static void print_text(const char *text)
{
  if (text == NULL)
    (void)printf("null");
  else
    cli_json_string(stdout, text, strlen(text));
}

static const char *level_of(const pai_diagnostic *d)
{
  return d->severity == PAI_SEVERITY_ERROR ? "error" : "warning";
}

/* What stands for a finding when a file could not be read. */
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

/* --- JSON ----------------------------------------------------------------- */

static void json_begin(void)
{
  (void)printf("[");
}

static void json_fix(const pai_fix *fix, bool first)
{
  (void)printf("%s{\"title\":", first ? "" : ",");
  print_text(fix->title);
  (void)printf(",\"sure\":%s,\"edits\":[", fix->sure ? "true" : "false");
  for (size_t i = 0; i < fix->edit_count; i++) {
    const pai_text_edit *e = fix->edits[i];

    (void)printf("%s{\"line\":%u,\"column\":%u,\"endLine\":%u,"
                 "\"endColumn\":%u,\"text\":",
                 i > 0 ? "," : "", e->line, e->column, e->end_line,
                 e->end_column);
    print_text(e->text);
    (void)printf("}");
  }
  (void)printf("]}");
}

static void json_finding(const pai_diagnostic *d)
{
  (void)printf("{\"severity\":\"%s\",\"code\":", level_of(d));
  print_text(d->code);
  (void)printf(",\"pointer\":");
  print_text(d->pointer);
  (void)printf(",\"line\":%u,\"column\":%u,\"endLine\":%u,\"endColumn\":%u",
               d->line, d->column, d->end_line, d->end_column);
  (void)printf(",\"message\":");
  print_text(d->message);
  (void)printf(",\"help\":");
  print_text(d->help);
  (void)printf(",\"fixes\":[");
  for (size_t i = 0; i < d->fix_count; i++)
    json_fix(d->fixes[i], i == 0);
  (void)printf("]}");
}

static void json_file(const cli_file *file, const cli_tally *tally)
{
  int version = file->report != NULL ? pai_report_version(file->report) : 0;
  bool valid = file->report != NULL && pai_report_valid(file->report);
  const pai_diagnostic *d;

  (void)printf("%s\n{\"file\":", tally->files > 1 ? "," : "");
  print_text(file->name);
  if (version == 0)
    (void)printf(",\"version\":null");
  else
    (void)printf(",\"version\":%d", version);
  if (file->is_cluster) {
    (void)printf(",\"form\":");
    print_text(file->form[0] != '\0' ? file->form : NULL);
  }
  (void)printf(",\"valid\":%s,\"diagnostics\":[", valid ? "true" : "false");
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

static void json_end(const cli_tally *tally)
{
  (void)tally;
  (void)printf("\n]\n");
}

const cli_form cli_form_json = { json_begin, json_file, json_end };

/* --- SARIF ---------------------------------------------------------------- */

/* A name as a reference to a file: what is absolute as such, else relative to
 * where the program ran. */
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

static void sarif_fixes(const cli_file *file, const pai_diagnostic *d)
{
  (void)printf(",\"fixes\":[");
  for (size_t i = 0; i < d->fix_count; i++) {
    const pai_fix *fix = d->fixes[i];

    (void)printf("%s{\"description\":{\"text\":", i > 0 ? "," : "");
    print_text(fix->title);
    (void)printf("},\"artifactChanges\":[{\"artifactLocation\":{\"uri\":");
    print_uri(file->name);
    (void)printf("},\"replacements\":[");
    for (size_t k = 0; k < fix->edit_count; k++) {
      const pai_text_edit *e = fix->edits[k];

      (void)printf("%s{\"deletedRegion\":{\"startLine\":%u,\"startColumn\":"
                   "%u,\"endLine\":%u,\"endColumn\":%u},"
                   "\"insertedContent\":{\"text\":",
                   k > 0 ? "," : "", e->line, e->column, e->end_line,
                   e->end_column);
      print_text(e->text);
      (void)printf("}}");
    }
    (void)printf("]}]}");
  }
  (void)printf("]");
}

/* Without a region when the file could not be read. */
static void sarif_result(const cli_file *file, const pai_diagnostic *d,
                         bool first)
{
  (void)printf("%s\n{\"ruleId\":", first ? "" : ",");
  print_text(d->code);
  (void)printf(",\"level\":\"%s\",\"message\":{\"text\":", level_of(d));
  print_text(d->message);
  (void)printf("},\"locations\":[{\"physicalLocation\":{"
               "\"artifactLocation\":{\"uri\":");
  print_uri(file->name);
  (void)printf("}");
  if (file->report != NULL)
    (void)printf(",\"region\":{\"startLine\":%u,\"startColumn\":%u,"
                 "\"endLine\":%u,\"endColumn\":%u}",
                 d->line, d->column, d->end_line, d->end_column);
  (void)printf("}");
  if (d->pointer[0] != '\0') {
    (void)printf(",\"logicalLocations\":[{\"fullyQualifiedName\":");
    print_text(d->pointer);
    (void)printf("}]");
  }
  (void)printf("}]");
  if (d->help != NULL) {
    (void)printf(",\"properties\":{\"help\":");
    print_text(d->help);
    (void)printf("}");
  }
  if (d->fix_count > 0)
    sarif_fixes(file, d);
  (void)printf("}");
}

static void sarif_file(const cli_file *file, const cli_tally *tally)
{
  size_t count = 1;
  const pai_diagnostic *d;
  /* How many results came before those of this file? */
  size_t before = tally->errors + tally->warnings + tally->unread;

  if (file->report == NULL) {
    pai_diagnostic u = unreadable(file);
    sarif_result(file, &u, before == count);
    return;
  }
  count = pai_report_count(file->report);
  for (size_t i = 0; (d = pai_report_get(file->report, i)) != NULL; i++)
    sarif_result(file, d, i == 0 && before == count);
}

/* The rules are known in the end only, and the order of keys is free. */
static void sarif_end(const cli_tally *tally)
{
  const char *means;

  (void)printf("\n],\"tool\":{\"driver\":{\"name\":\"openpai\",\"version\":");
  print_text(pai_version());
  (void)printf(",\"rules\":[");
  for (size_t i = 0; i < tally->ncodes; i++) {
    (void)printf("%s{\"id\":", i > 0 ? "," : "");
    print_text(tally->codes[i]);
    means = cli_code_means(tally->codes[i]);
    if (means != NULL)
      (void)printf(",\"shortDescription\":{\"text\":\"%s\"}", means);
    (void)printf("}");
  }
  (void)printf("]}},\"invocations\":[{\"executionSuccessful\":%s}]}]}\n",
               tally->unread == 0 ? "true" : "false");
}

const cli_form cli_form_sarif = { sarif_begin, sarif_file, sarif_end };
