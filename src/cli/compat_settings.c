/*
 * compat_settings.c - what `opai set` keeps: defaults.yaml in .openpai of the
 * present folder and of the home, as the old program had them
 *
 * The folder's go before the home's; of what adds up, both count.
 */
#include "compat.h"
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20, LAYERS = 2, MOST_ITEMS = 1024 };

/* What can be set, in the order of the alphabet. */
static const struct variable {
  const char *name;
  const char *preset; /* or NULL */
  int option;         /* that it stands for, or -1 */
  bool list;
} variables[] = {
  { "cluster-alias", NULL, OLD_CLUSTER, false },
  { "clusters-in-local", "no", -1, false },
  { "container-sdk-branch", "master", -1, false },
  { "cpu", NULL, OLD_CPU, false },
  { "gpu", NULL, OLD_GPU, false },
  { "image", NULL, OLD_IMAGE, false },
  { "image-list", NULL, -1, true },
  { "mem", NULL, OLD_MEM, false },
  { "memoryMB", NULL, OLD_MEMORY_MB, false },
  { "pip-installs", NULL, OLD_PIP, true },
  { "resource-list", NULL, -1, true },
  { "sources", NULL, OLD_SOURCES, true },
  { "storage-alias", NULL, OLD_STORAGE, false },
  { "virtual-cluster", NULL, OLD_VC, false },
  { "web-default-form", NULL, -1, false },
  { "web-default-image", NULL, -1, false },
  { "web-default-resource", NULL, -1, false },
  { "workspace", NULL, OLD_WORKSPACE, false },
};

enum { VARIABLES = sizeof(variables) / sizeof(variables[0]) };

/* The folder's, and the home's; kept until the program ends. */
static struct layer {
  const char *name;
  char *path; /* NULL: there is no home */
  pai_draft *draft;
  cli_json json; /* all of it */
} layers[LAYERS] = { { .name = "local_default" },
                     { .name = "global_default" } };

/* --- reading --------------------------------------------------------------------- */

/* False, and told: the file is there and no good. */
static bool read_layer(struct layer *l)
{
  char why[512], *text = NULL, *json = NULL;
  size_t len = 0, json_len = 0;
  pai_error *err = NULL;
  bool good = false;
  int error = cli_read_file(&text, &len, l->path, MOST);
  FILE *to;

  if (error != 0 && error != ENOENT && error != ENOTDIR) {
    cli_read_why(why, sizeof(why), l->path, error);
    cli_fail("%s", why);
    return false;
  }
  pai_draft_free(l->draft);
  cli_json_free(&l->json);
  l->json = (cli_json){ 0 };
  if (pai_draft_new(&l->draft, len > 0 ? text : NULL, len, NULL, &err) < 0)
    cli_error(l->path, err);
  else if (len == 0)
    good = true;
  else if ((to = open_memstream(&json, &json_len)) != NULL) {
    good = pai_draft_get(l->draft, "", cli_write, to, &err) == PAI_OK;
    if (!good)
      cli_error(l->path, err);
    (void)fclose(to);
    good = good && cli_json_read(&l->json, json, json_len);
  }
  if (good && l->json.count > 0 && l->json.values[0].type != '{') {
    cli_fail("%s has no settings: they are lines of NAME: VALUE", l->path);
    good = false;
  }
  cli_old_numbers(&l->json);
  pai_error_free(err);
  free(json);
  free(text);
  return good;
}

bool cli_old_settings_load(void)
{
  const char *home = getenv("HOME");

  if (layers[0].draft != NULL)
    return true;
  layers[0].path = cli_absolute(".openpai/defaults.yaml");
  layers[1].path = home != NULL && home[0] != '\0'
                     ? cli_join(home, ".openpai/defaults.yaml")
                     : NULL;
  if (layers[0].path == NULL) {
    cli_fail("out of memory");
    return false;
  }
  return read_layer(&layers[0]) &&
         (layers[1].path == NULL || read_layer(&layers[1]));
}

/* The n-th item of a list, or the one value; NULL: there are not so many. */
static const char *value_at(const struct layer *l, const char *name, size_t n)
{
  size_t i = l->json.count > 0 ? cli_json_get(&l->json, 0, name) : 0, k;

  if (i == 0 || l->json.values[i].type == 'n')
    return NULL;
  if (l->json.values[i].type != '[')
    return n == 0 ? l->json.values[i].text : NULL;
  for (k = cli_json_first(&l->json, i); k != 0 && n > 0; n--)
    k = cli_json_next(&l->json, i, k);
  return k != 0 ? l->json.values[k].text : NULL;
}

static const char *find_value(const struct variable *v, size_t n)
{
  for (size_t i = 0; i < LAYERS; i++) {
    const char *value;
    size_t count = 0;

    if (i > 0 && layers[i].path != NULL &&
        strcmp(layers[0].path, layers[i].path) == 0)
      break; /* at home both are one */
    value = value_at(&layers[i], v->name, n);
    if (value != NULL)
      return value;
    while (v->list && value_at(&layers[i], v->name, count) != NULL)
      count++;
    n -= count;
  }
  return n == 0 ? v->preset : NULL;
}

const char *cli_old_setting(int option, size_t n)
{
  for (size_t i = 0; i < VARIABLES; i++)
    if (variables[i].option == option)
      return find_value(&variables[i], n);
  return NULL;
}

/* --- showing -------------------------------------------------------------------------- */

static void print_all(void)
{
  for (size_t i = 0; i < VARIABLES; i++) {
    const char *value = find_value(&variables[i], 0);

    (void)printf("%s:", variables[i].name);
    if (!variables[i].list) {
      (void)printf(" ");
      if (value != NULL)
        cli_old_scalar(stdout, value);
      else
        (void)printf("null");
    } else if (value == NULL) {
      (void)printf(" []");
    }
    for (size_t n = 0; variables[i].list && value != NULL; n++) {
      (void)printf("\n- ");
      cli_old_scalar(stdout, value);
      value = n + 1 < MOST_ITEMS ? find_value(&variables[i], n + 1) : NULL;
    }
    (void)printf("\n");
  }
  (void)printf("\n");
}

/* --- changing ---------------------------------------------------------------------------- */

/* The layer's list with a value at its end, or without it, as JSON, for free().
 * NULL, and told. */
static char *change_list(const struct layer *l, const char *name,
                         const char *value, bool with)
{
  const char *item, *comma = "";
  char *text = NULL;
  size_t len = 0;
  FILE *out = open_memstream(&text, &len);

  if (out == NULL) {
    cli_fail("out of memory");
    return NULL;
  }
  (void)fputc('[', out);
  for (size_t n = 0; (item = value_at(l, name, n)) != NULL; n++) {
    if (strcmp(item, value) == 0)
      continue;
    (void)fputs(comma, out);
    cli_json_string(out, item, strlen(item));
    comma = ",";
  }
  if (with) {
    (void)fputs(comma, out);
    cli_json_string(out, value, strlen(value));
  }
  (void)fputc(']', out);
  if (fclose(out) == 0)
    return text;
  free(text);
  return NULL;
}

/* Sets or, with a NULL, takes out what the file has.  False, and told. */
static bool change(struct layer *l, const struct variable *v,
                   const char *value, const char *list)
{
  pai_error *err = NULL;
  char path[64];
  const char *text;
  size_t len;
  int rc;

  (void)snprintf(path, sizeof(path), "/%s", v->name);
  if (list != NULL)
    rc = pai_draft_set(l->draft, path, list, &err);
  else if (value != NULL)
    rc = pai_draft_set_text(l->draft, path, value, strlen(value), &err);
  else
    rc = pai_draft_unset(l->draft, path, &err);
  if (rc < 0)
    cli_error(l->path, err);
  pai_error_free(err);
  if (rc < 0)
    return false;
  text = pai_draft_text(l->draft, &len);
  return cli_write_private(l->path, text, len) && read_layer(l);
}

/* The layer and the variable; NULL, and told. */
static const struct variable *find(struct layer **l, bool everywhere,
                                   const char *name, size_t len)
{
  *l = &layers[everywhere ? 1 : 0];
  if ((*l)->path == NULL) {
    cli_fail("HOME is not set: there is no place for settings of everywhere");
    return NULL;
  }
  for (size_t i = 0; i < VARIABLES; i++)
    if (strlen(variables[i].name) == len &&
        strncmp(variables[i].name, name, len) == 0)
      return &variables[i];
  cli_fail("%.*s is no setting of opai", (int)len, name);
  cli_help(stderr, "opai set shows all of them");
  return NULL;
}

static bool set(struct layer *l, const struct variable *v, const char *value)
{
  char *list = v->list ? change_list(l, v->name, value, true) : NULL;
  bool good = (!v->list || list != NULL) && change(l, v, value, list);

  free(list);
  if (good)
    (void)printf("%s %s %s under %s successfully\n", v->list ? value : v->name,
                 v->list ? "added to" : "set to", v->list ? v->name : value,
                 l->name);
  return good;
}

/* Takes out all of it, or of a list one value. */
static bool unset(struct layer *l, const struct variable *v, const char *value)
{
  bool one = v->list && value != NULL && value[0] != '\0';
  char *list;
  bool good;

  if (value_at(l, v->name, 0) == NULL) {
    (void)printf("key %s not found in %s, ignored\n", v->name, l->name);
    return true;
  }
  list = one ? change_list(l, v->name, value, false) : NULL;
  good = (!one || list != NULL) && change(l, v, NULL, list);
  free(list);
  if (good && one)
    (void)printf("%s removed in %s under %s successfully\n", value, v->name,
                 l->name);
  else if (good)
    (void)printf("key %s removed completely from %s successfully\n", v->name,
                 l->name);
  return good;
}

bool cli_old_set(bool everywhere, const char *name, const char *value)
{
  struct layer *l;
  const struct variable *v = find(&l, everywhere, name, strlen(name));

  return v != NULL && set(l, v, value);
}

bool cli_old_forget_cluster(const char *alias)
{
  const struct variable *v;
  bool good = true;

  for (size_t i = 0; i < LAYERS; i++) {
    struct layer *l = &layers[i];
    const char *value =
      l->path != NULL ? value_at(l, "cluster-alias", 0) : NULL;

    if (value == NULL || strcmp(value, alias) != 0)
      continue;
    v = find(&l, i == 1, "cluster-alias", strlen("cluster-alias"));
    good = v != NULL && change(l, v, NULL, NULL) && good;
  }
  return good;
}

/* --- set and unset -------------------------------------------------------------------------- */

int cli_opai_set(cli_old *old)
{
  bool everywhere = old->value[OLD_GLOBAL] != NULL, good = true;
  const struct variable *v;
  struct layer *l;

  if (old->count == 0)
    print_all();
  for (int i = 0; i < old->count; i++) {
    const char *word = old->words[i], *equals = strchr(word, '=');
    size_t len = equals != NULL ? (size_t)(equals - word) : 0;
    bool drop = len > 1 && word[len - 1] == '-';

    if (len > 1 && (drop || word[len - 1] == '+'))
      len--;
    if (len == 0 || equals[1] == '\0')
      return cli_old_refuse(old, "this is not NAME=VALUE", word);
    v = find(&l, everywhere, word, len);
    good =
      v != NULL &&
      (drop && v->list ? unset(l, v, equals + 1) : set(l, v, equals + 1)) &&
      good;
  }
  return good ? CLI_OK : CLI_NO;
}

int cli_opai_unset(cli_old *old)
{
  bool everywhere = old->value[OLD_GLOBAL] != NULL, good = true;
  const struct variable *v;
  struct layer *l;

  for (int i = 0; i < old->count; i++) {
    const char *word = old->words[i], *equals = strchr(word, '=');
    size_t len = equals != NULL ? (size_t)(equals - word) : strlen(word);

    if (len > 1 && equals != NULL && strchr("+-", word[len - 1]) != NULL)
      len--;
    v = find(&l, everywhere, word, len);
    good =
      v != NULL && unset(l, v, equals != NULL ? equals + 1 : NULL) && good;
  }
  return good ? CLI_OK : CLI_NO;
}
