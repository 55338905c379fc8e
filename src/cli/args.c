/* args.c - options of a verb, in the manner of getopt_long() */
#include "cli.h"

#include <string.h>

static const cli_option *find(const cli_option *options, size_t count,
                              const char *word, size_t len)
{
  for (size_t i = 0; i < count; i++)
    if (strlen(options[i].name) == len &&
        strncmp(options[i].name, word, len) == 0)
      return &options[i];
  return NULL;
}

static const cli_option *find_letter(const cli_option *options, size_t count,
                                     char letter)
{
  for (size_t i = 0; i < count; i++)
    if (options[i].letter == letter)
      return &options[i];
  return NULL;
}

void cli_misused(const cli_verb *verb, const char *what, const char *word)
{
  cli_fail("%s: %s", what, word);
  (void)fprintf(stderr, "  help: openpai %s --help\n", verb->name);
}

static int wrong(const cli_verb *verb, const char *what, const char *word)
{
  cli_misused(verb, what, word);
  return -1;
}

cli_words cli_values;
cli_words cli_parameters = { .form = "NAME=VALUE" };
cli_words cli_secret_files = { .form = "NAME=FILE" };
cli_words cli_env_words;
cli_words cli_gpus, cli_cpus, cli_memory, cli_image;
cli_words cli_after, cli_tags, cli_folders;

static cli_words *find_list(const cli_option *o)
{
  static cli_words *const lists[] = {
    &cli_values, &cli_parameters, &cli_secret_files, &cli_env_words,
    &cli_gpus,   &cli_cpus,       &cli_memory,       &cli_image,
    &cli_after,  &cli_tags,       &cli_folders
  };

  for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
    if (o->value == lists[i]->words)
      return lists[i];
  return NULL;
}

/* NAME=..., and something behind it where that is a file. */
static bool fits(const cli_words *list, const char *value)
{
  const char *equals = strchr(value, '=');

  return list->form == NULL ||
         (equals != NULL && equals != value &&
          (list != &cli_secret_files || equals[1] != '\0'));
}

/* False: it cannot be that, and that is said.  A word that may be a secret is
 * not repeated. */
static bool take_value(const cli_verb *verb, const cli_option *o,
                       const char *value)
{
  cli_words *to = find_list(o);
  char what[64];

  if (to == NULL) {
    *o->value = value;
    return true;
  }
  if (!fits(to, value))
    (void)snprintf(what, sizeof(what), "this is not %s", to->form);
  else if (to->count == CLI_VALUES)
    (void)snprintf(what, sizeof(what),
                   "this option was given more than %d times", CLI_VALUES);
  else {
    to->words[to->count++] = value;
    return true;
  }
  (void)wrong(verb, what,
              to == &cli_secret_files ? "--secret-file"
              : to == &cli_env_words  ? "--env"
                                      : value);
  return false;
}

/* What follows a letter or a long name in the same word; NULL for nothing. */
static const char *joined_value(const cli_option *o, const char *word)
{
  const char *equals;

  if (word[1] != '-')
    return o->flag == NULL && word[2] != '\0' ? word + 2 : NULL;
  equals = strchr(word, '=');
  return equals != NULL ? equals + 1 : NULL;
}

static const cli_option *find_option(const cli_option *options, size_t count,
                                     const char *word)
{
  const cli_option *o;

  if (word[1] == '-')
    return find(options, count, word + 2, strcspn(word + 2, "="));
  o = find_letter(options, count, word[1]);
  return o != NULL && (word[2] == '\0' || o->flag == NULL) ? o : NULL;
}

static int unknown(const cli_verb *verb, const cli_option *options,
                   size_t count, const char *word)
{
  for (size_t i = 0; i < count && word[1] == '-'; i++)
    if (cli_is_slip(word + 2, strcspn(word + 2, "="), options[i].name)) {
      cli_fail("unknown option: %s", word);
      (void)fprintf(stderr, "  help: did you mean --%s?\n", options[i].name);
      return -1;
    }
  return wrong(verb, "unknown option", word);
}

int cli_options(const cli_verb *verb, const cli_option *options, size_t count,
                int argc, char **argv)
{
  int words = 0;

  for (int i = 1; i < argc; i++) {
    const char *word = argv[i], *value;
    const cli_option *o;

    if (strcmp(word, "--") == 0) {
      while (++i < argc)
        argv[words++] = argv[i];
      break;
    }
    /* "-" is standard input, and "-30m" a time. */
    if (word[0] != '-' || word[1] == '\0' ||
        (word[1] >= '0' && word[1] <= '9')) {
      argv[words++] = argv[i];
      continue;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
      cli_print_help(verb, stdout);
      return -2;
    }
    o = find_option(options, count, word);
    if (o == NULL)
      return unknown(verb, options, count, word);
    value = joined_value(o, word);
    if (o->flag != NULL && value != NULL)
      return wrong(verb, "this option takes no value", word);
    if (o->flag != NULL)
      *o->flag = true;
    else if (value == NULL && ++i == argc)
      return wrong(verb, "this option needs a value", word);
    else if (!take_value(verb, o, value != NULL ? value : argv[i]))
      return -1;
  }
  return words;
}

void cli_print_help(const cli_verb *verb, FILE *out)
{
  (void)fprintf(out, "usage: openpai %s %s\n\n%s\n\n%s%s", verb->name,
                verb->usage, verb->brief, verb->help,
                verb->more != NULL ? verb->more : "");
}
