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

const char *cli_values[CLI_VALUES];
size_t cli_value_count;

/* False: it cannot be that. */
static bool take_value(const cli_option *o, const char *value)
{
  const char *equals = strchr(value, '=');

  if (o->value != NULL) {
    *o->value = value;
    return true;
  }
  if (equals == NULL || equals == value || cli_value_count == CLI_VALUES)
    return false;
  cli_values[cli_value_count++] = value;
  return true;
}

int cli_options(const cli_verb *verb, const cli_option *options, size_t count,
                int argc, char **argv)
{
  int words = 0;

  for (int i = 1; i < argc; i++) {
    const char *word = argv[i], *equals = strchr(word, '=');
    const cli_option *o;

    if (strcmp(word, "--") == 0) {
      while (++i < argc)
        argv[words++] = argv[i];
      break;
    }
    if (word[0] != '-' || word[1] == '\0') {
      argv[words++] = argv[i];
      continue;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
      cli_print_help(verb, stdout);
      return -2;
    }
    if (word[1] == '-')
      o =
        find(options, count, word + 2,
             equals != NULL ? (size_t)(equals - word) - 2 : strlen(word + 2));
    else
      o = word[2] == '\0' ? find_letter(options, count, word[1]) : NULL;
    if (o == NULL)
      return wrong(verb, "unknown option", word);
    if (o->flag != NULL && equals != NULL)
      return wrong(verb, "this option takes no value", word);
    if (o->flag != NULL)
      *o->flag = true;
    else if ((word[1] != '-' || equals == NULL) && ++i == argc)
      return wrong(verb, "this option needs a value", word);
    else if (!take_value(o, word[1] == '-' && equals != NULL ? equals + 1
                                                             : argv[i]))
      return wrong(verb, "this option takes NAME=VALUE, 256 times at most",
                   word);
  }
  return words;
}

void cli_print_help(const cli_verb *verb, FILE *out)
{
  (void)fprintf(out, "usage: openpai %s %s\n\n%s\n\n%s", verb->name,
                verb->usage, verb->brief, verb->help);
}
