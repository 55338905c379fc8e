/* debug.c - a job file whose first Python program waits for a debugger */
#include "helper.h"

#include "draft.h"

#include <stdlib.h>
#include <string.h>

/*
 * Goes before the commands of the role: shell functions in place of Python.
 * The first call in task 0 runs under debugpy; a folder that only one call can
 * remove tells which is the first, also in a subshell.  Options of Python go
 * before "-m debugpy", which knows none of them.
 */
static const char before[] =
  "openpai_debug=$(mktemp -d)\n"
  "openpai_python() {\n"
  "  local python=\"$1\" options=()\n"
  "  shift\n"
  "  while [[ \"${1-}\" == -[!mc]* ]]; do\n"
  "    options+=(\"$1\")\n"
  "    if [[ \"$1\" == -[WX] && $# -gt 1 ]]; then shift; options+=(\"$1\"); "
  "fi\n"
  "    shift\n"
  "  done\n"
  "  if [ \"$PAI_TASK_INDEX\" != 0 ] || [ \"${1--}\" = - ] ||\n"
  "      ! rmdir \"$openpai_debug\" 2>/dev/null; then\n"
  "    command \"$python\" ${options[@]+\"${options[@]}\"} \"$@\"\n"
  "    return\n"
  "  fi\n"
  "  if ! command \"$python\" -c 'import debugpy' 2>/dev/null; then\n"
  "    echo \"debugpy is missing: $python -m pip install debugpy\" >&2\n"
  "    exit 1\n"
  "  fi\n"
  "  command \"$python\" ${options[@]+\"${options[@]}\"} -m debugpy \\\n"
  "    --listen 127.0.0.1:%d --wait-for-client \"$@\"\n"
  "}\n";

enum { MOST_NAMES = 8, MOST_NAME = 256, MOST_PATH = 512 };

typedef struct found {
  char names[MOST_NAMES][MOST_NAME]; /* as called: python3, /usr/bin/python */
  size_t count;
} found;

/* --- finding -------------------------------------------------------------------- */

/* Whether a word calls Python: python, python3.11, also with a path. */
static bool is_python(const char *word, size_t len)
{
  size_t at = len;

  if (len >= MOST_NAME || strcspn(word, "'\"$\\*?[]{}<>=") < len)
    return false;
  while (at > 0 && word[at - 1] != '/')
    at--;
  return len - at >= 6 && strncmp(word + at, "python", 6) == 0 &&
         strspn(word + at + 6, "0123456789.") >= len - at - 6;
}

/* Whether a word may stand before a command: A=B, then, do, ... */
static bool is_before(const char *word, size_t len)
{
  static const char *const words[] = { "then", "do",    "else", "if",
                                       "time", "while", "!",    "{" };

  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
    if (strlen(words[i]) == len && strncmp(words[i], word, len) == 0)
      return true;
  return memchr(word, '=', len) != NULL && word[0] != '-';
}

static void add(found *f, const char *word, size_t len)
{
  for (size_t i = 0; i < f->count; i++)
    if (strlen(f->names[i]) == len && strncmp(f->names[i], word, len) == 0)
      return;
  if (f->count < MOST_NAMES)
    (void)snprintf(f->names[f->count++], MOST_NAME, "%.*s", (int)len, word);
}

/* Finds Python where a command of the shell begins. */
static void find_names(found *f, const char *script)
{
  bool begins = true;

  while (*script != '\0') {
    size_t blank = strspn(script, " \t"), len;

    script += blank;
    if (strchr("\n;&|(", *script) != NULL && *script != '\0') {
      begins = true;
      script++;
      continue;
    }
    len = strcspn(script, " \t\n;&|()");
    if (len == 0) {
      script += *script != '\0';
      continue;
    }
    if (begins && is_python(script, len))
      add(f, script, len);
    begins = begins && is_before(script, len);
    script += len;
  }
}

/* Returns the first role that calls Python; SIZE_MAX: none does. */
static size_t find_role(found *f, const pai_spec *spec)
{
  const char *script;

  for (size_t i = 0; (script = pai_spec_role_script(spec, i)) != NULL; i++) {
    find_names(f, script);
    if (f->count > 0)
      return i;
  }
  return SIZE_MAX;
}

/* --- changing ------------------------------------------------------------------- */

static char *make_functions(const found *f, int port)
{
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);

  if (out == NULL)
    return NULL;
  (void)fprintf(out, before, port);
  for (size_t i = 0; i < f->count; i++)
    (void)fprintf(out, "%s() { openpai_python %s \"$@\"; }\n", f->names[i],
                  f->names[i]);
  if (fclose(out) == 0)
    return text;
  free(text);
  return NULL;
}

/* What a change of the draft needs. */
typedef struct change {
  const char *path;  /* of the role's commands */
  const char *first; /* goes before them */
} change;

/* Puts a command before those of the role. */
static int put_first(pai_draft *draft, void *data, pai_error **err)
{
  const change *c = data;
  char *list = cli_draft_value(draft, c->path), *text = NULL;
  size_t len = 0;
  FILE *out =
    list != NULL && list[0] == '[' ? open_memstream(&text, &len) : NULL;
  int rc = list == NULL || list[0] != '[' ? PAI_ENOTFOUND : PAI_ENOMEM;

  if (out != NULL) {
    (void)fputc('[', out);
    cli_json_string(out, c->first, strlen(c->first));
    (void)fprintf(out, "%s%s", list[1] != ']' ? "," : "", list + 1);
    if (fclose(out) == 0)
      rc = pai_draft_set(draft, c->path, text, err);
  }
  free(text);
  free(list);
  return rc;
}

/* Makes the answer: the changed file and the role. */
static char *make_answer(const char *text, const found *f, const char *role,
                         int port)
{
  char path[MOST_PATH], *first = make_functions(f, port), *json = NULL;
  change c = { path, first };
  pai_draft *draft = NULL;
  size_t below;

  below = cli_json_pointer(path, sizeof(path) - sizeof("/commands"),
                           "/taskRoles", role, strlen(role))
            ? strlen(path)
            : 0;
  (void)snprintf(path + below, sizeof(path) - below, "/commands");
  if (first != NULL && below > 0 &&
      cli_draft_change(&draft, text, strlen(text), NULL, put_first, &c,
                       NULL) == PAI_OK)
    json = cli_json_make("{\"text\":%s,\"role\":%s,\"index\":0}",
                         pai_draft_text(draft, NULL), role);
  pai_draft_free(draft);
  free(first);
  return json;
}

/* --- the method ----------------------------------------------------------------- */

HELPER_METHOD(debug_job)
{
  const char *text = cli_json_text(params, 0, "text");
  int64_t port = cli_json_number(params, 0, "port", 0);
  pai_role_view role = { .struct_size = sizeof(role) };
  pai_spec *spec = NULL;
  pai_error *err = NULL;
  found f = { .count = 0 };
  char *json;
  size_t i;
  int rc = pai_spec_parse(&spec, text, strlen(text), NULL, &err);

  if (rc < 0 || port < 1 || port > UINT16_MAX) {
    helper_refuse(e, request, HELPER_INVALID_PARAMS,
                  rc < 0 ? pai_error_message(err) : "no port is given");
    pai_error_free(err);
    return;
  }
  i = find_role(&f, spec);
  if (i == SIZE_MAX || pai_spec_view_role(spec, i, &role) < 0) {
    helper_refuse(e, request, HELPER_FAILED,
                  "no task role calls Python by its name, as in "
                  "'python train.py'");
  } else {
    json = make_answer(text, &f, role.name, (int)port);
    if (json != NULL)
      helper_respond(e, request, json);
    else
      helper_refuse(e, request, HELPER_FAILED,
                    "the commands of this job file cannot be changed: it must "
                    "be in protocol 2");
  }
  pai_spec_unref(spec);
}
