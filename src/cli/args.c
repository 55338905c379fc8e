/* args.c - parsing the options and words of a verb, like getopt_long() */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 24 };

static size_t least(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* Edit distance: letters to add, drop, change, or swap with the next. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
  size_t d[LONGEST + 1][LONGEST + 1];

  for (size_t i = 0; i <= n; i++)
    for (size_t k = 0; k <= m; k++) {
      if (i == 0 || k == 0) {
        d[i][k] = i + k;
        continue;
      }
      d[i][k] = least(least(d[i - 1][k], d[i][k - 1]) + 1,
                      d[i - 1][k - 1] + (a[i - 1] != b[k - 1]));
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
        d[i][k] = least(d[i][k], d[i - 2][k - 2] + 1);
    }
  return d[n][m];
}

bool cli_is_misspelling(const char *word, size_t len, const char *name)
{
  size_t n = strlen(name);

  return len <= LONGEST && n <= LONGEST &&
         distance(word, len, name, n) <= (n > 4 ? 2u : 1u);
}

cli_words cli_parameters, cli_secret_files;
const cli_verb *cli_verb_now;

static bool given[CLI_OPTIONS]; /* options of the verb, by index */

int cli_misused(const char *what, const char *word)
{
  cli_fail("%s: %s", what, word);
  (void)fprintf(stderr, "  help: openpai %s --help\n", cli_verb_now->name);
  return cli_verb_now->misuse;
}

bool cli_wrong(const char *what, const char *word)
{
  (void)cli_misused(what, word);
  return false;
}

/* Returns the index of the option with this name, or the number of options if
 * there is none. */
static size_t find(const cli_verb *verb, const char *name, size_t len)
{
  size_t i = 0;

  while (i < verb->count && (strlen(verb->options[i].name) != len ||
                             strncmp(verb->options[i].name, name, len) != 0))
    i++;
  return i;
}

static size_t find_letter(const cli_verb *verb, char letter)
{
  size_t i = 0;

  while (i < verb->count && verb->options[i].letter != letter)
    i++;
  return i;
}

/* --- values -------------------------------------------------------------- */

/* Formats "a", or "b|c" as "a, b or c". */
static void print_choices(char *out, size_t size, const char *choices)
{
  size_t len = 0;

  for (const char *at = choices; *at != '\0' && len + 8 < size; at++)
    if (*at != '|')
      out[len++] = *at;
    else
      len += (size_t)snprintf(out + len, size - len,
                              strchr(at + 1, '|') != NULL ? ", " : " or ");
  out[len] = '\0';
}

static bool is_choice(const char *choices, const char *value)
{
  size_t len = strlen(value);

  for (const char *at = choices; at != NULL; at = strchr(at, '|')) {
    at += *at == '|';
    if (strcspn(at, "|") == len && strncmp(at, value, len) == 0)
      return len > 0;
  }
  return false;
}

static bool is_number(const cli_option *o, const char *value)
{
  char *end;
  unsigned long long n;

  errno = 0;
  n = strtoull(value, &end, 10);
  return value[0] >= '0' && value[0] <= '9' && *end == '\0' && errno == 0 &&
         n >= o->least && (o->most == 0 || n <= o->most);
}

/* Whether a value has the form NAME=..., not empty after the "=" for a
 * file. */
static bool has_form(const cli_option *o, const char *value)
{
  const char *equals = strchr(value, '=');

  return equals != NULL && equals != value &&
         (strcmp(o->form, "NAME=FILE") != 0 || equals[1] != '\0');
}

/* Returns false after printing an error. */
static bool check_value(const cli_option *o, const char *value)
{
  char what[200], choices[128];
  bool good = true;

  if (o->kind == CLI_CHOICE && !is_choice(o->form, value)) {
    print_choices(choices, sizeof(choices), o->form);
    (void)snprintf(what, sizeof(what), "--%s is %s", o->name, choices);
    good = false;
  } else if (o->kind == CLI_NUMBER && !is_number(o, value)) {
    int len = snprintf(what, sizeof(what), "--%s is a whole number", o->name);

    if (o->least > 0 || o->most > 0)
      len += snprintf(what + len, sizeof(what) - (size_t)len, " from %llu",
                      o->least);
    if (o->most > 0)
      (void)snprintf(what + len, sizeof(what) - (size_t)len, " to %llu",
                     o->most);
    good = false;
  } else if (o->kind == CLI_LIST && o->form != NULL && !has_form(o, value)) {
    (void)snprintf(what, sizeof(what), "this is not %s", o->form);
    good = false;
  }
  (void)snprintf(choices, sizeof(choices), "--%s", o->name);
  return good || cli_wrong(what, o->secret ? choices : value);
}

static bool take_value(const cli_option *o, const char *value)
{
  cli_words *list = o->to;
  cli_changes *changes = o->to;

  if (!check_value(o, value))
    return false;
  if (o->kind == CLI_LIST && list->count < CLI_VALUES) {
    list->words[list->count++] = value;
  } else if (o->kind == CLI_CHANGE && changes->count < CLI_VALUES) {
    changes->list[changes->count++] = (struct cli_change){ o->name, value };
  } else if (o->kind == CLI_LIST || o->kind == CLI_CHANGE) {
    return cli_wrong("this option was given too often", o->name);
  } else {
    *(const char **)o->to = value;
  }
  return true;
}

/* --- words --------------------------------------------------------------- */

static bool unknown(const cli_verb *verb, const char *word)
{
  for (size_t i = 0; i < verb->count && word[1] == '-'; i++)
    if (cli_is_misspelling(word + 2, strcspn(word + 2, "="),
                           verb->options[i].name)) {
      cli_fail("unknown option: %s", word);
      (void)fprintf(stderr, "  help: did you mean --%s?\n",
                    verb->options[i].name);
      return false;
    }
  return cli_wrong("unknown option", word);
}

/* Takes an option.  `value` is the value in the same word, or NULL; else the
 * next word is the value. */
static bool take_option(const cli_option *o, const char *value, int count,
                        char **words, int *i)
{
  const char *word = words[*i];

  given[o - cli_verb_now->options] = true;
  if (o->kind == CLI_FLAG) {
    *(bool *)o->to = true;
    return value == NULL || cli_wrong("this option takes no value", word);
  }
  if (value == NULL && ++*i == count)
    return cli_wrong("this option needs a value", word);
  return take_value(o, value != NULL ? value : words[*i]);
}

/* Parses "--name", "--name VALUE" or "--name=VALUE". */
static bool take_name(const cli_verb *verb, int count, char **words, int *i)
{
  const char *name = words[*i] + 2;
  size_t len = strcspn(name, "="), at = find(verb, name, len);

  if (at == verb->count)
    return unknown(verb, words[*i]);
  return take_option(&verb->options[at],
                     name[len] == '=' ? name + len + 1 : NULL, count, words,
                     i);
}

/* Parses letters: "-a", "-ay", "-n 5", "-n5" or "-an5". */
static bool take_letters(const cli_verb *verb, int count, char **words, int *i)
{
  bool good = true, flag = true;

  for (const char *at = words[*i] + 1; good && flag && *at != '\0'; at++) {
    size_t k = find_letter(verb, *at);

    if (k == verb->count)
      return unknown(verb, (char[]){ '-', *at, '\0' });
    flag = verb->options[k].kind == CLI_FLAG;
    good =
      take_option(&verb->options[k], !flag && at[1] != '\0' ? at + 1 : NULL,
                  count, words, i);
  }
  return good;
}

/* "-" is standard input, and "-30m" a time. */
static bool is_option(const char *word)
{
  return word[0] == '-' && word[1] != '\0' && (word[1] < '0' || word[1] > '9');
}

/* Moves positional words to the front.  Returns their number; -1 after
 * printing an error; -2 if help was asked for. */
static int read_words(const cli_verb *verb, int count, char **words)
{
  int kept = 0;

  for (int i = 0; i < count; i++) {
    if (strcmp(words[i], "--") == 0) {
      while (++i < count)
        words[kept++] = words[i];
    } else if (!is_option(words[i])) {
      words[kept++] = words[i];
    } else if (strcmp(words[i], "--help") == 0 ||
               strcmp(words[i], "-h") == 0) {
      return -2;
    } else if (!(words[i][1] == '-' ? take_name : take_letters)(verb, count,
                                                                words, &i)) {
      return -1;
    }
  }
  return kept;
}

/* Checks that required options are given, and that no two options exclude each
 * other. */
static bool check_options(const cli_verb *verb)
{
  char told[128];

  for (size_t i = 0; i < verb->count; i++) {
    const cli_option *o = &verb->options[i];

    (void)snprintf(told, sizeof(told), "--%s", o->name);
    if (o->needed && !given[i])
      return cli_wrong("a required option is missing", told);
    if (o->needs != NULL && given[i] &&
        !given[find(verb, o->needs, strlen(o->needs))]) {
      (void)snprintf(told, sizeof(told), "--%s requires --%s", o->name,
                     o->needs);
      return cli_wrong(verb->name, told);
    }
    for (const char *name = given[i] ? o->excludes : NULL; name != NULL;) {
      size_t len = strcspn(name, ",");

      if (given[find(verb, name, len)]) {
        (void)snprintf(told, sizeof(told), "--%s --%.*s", o->name, (int)len,
                       name);
        return cli_wrong("these options exclude each other", told);
      }
      name = name[len] != '\0' ? name + len + 1 : NULL;
    }
  }
  return true;
}

static bool check_count(const cli_verb *verb, int count, char **words)
{
  if (count < verb->least)
    return verb->few != NULL ? cli_wrong(verb->name, verb->few)
                             : cli_wrong("this verb requires", verb->needs);
  return count <= verb->most ||
         cli_wrong(verb->many != NULL ? verb->many
                   : verb->most == 0  ? "this verb takes no argument"
                                      : "too many arguments",
                   words[verb->most]);
}

/* Removes a command after "--" from the words. */
static void cut_command(const cli_verb *verb, int *count, char **words)
{
  for (int i = 0; verb->command && i < *count; i++)
    if (strcmp(words[i], "--") == 0) {
      cli_words_given->command = words + i + 1;
      cli_words_given->ncommand = *count - i - 1;
      *count = i;
    }
}

int cli_run_verb(const cli_verb *verb, int count, char **words)
{
  for (size_t i = 0; i < verb->count; i++)
    if (verb->options[i].usual != NULL)
      *(const char **)verb->options[i].to = verb->options[i].usual;
  cut_command(verb, &count, words);
  count = read_words(verb, count, words);
  if (count == -2) {
    cli_print_help(verb, stdout);
    return CLI_OK;
  }
  if (count < 0 || !check_options(verb) || !check_count(verb, count, words))
    return verb->misuse;
  cli_words_given->count = count;
  cli_words_given->words = words;
  return verb->run();
}

unsigned long long cli_number(const char *text, unsigned long long usual)
{
  return text != NULL ? strtoull(text, NULL, 10) : usual;
}

void cli_print_help(const cli_verb *verb, FILE *out)
{
  for (const char *const *piece = verb->help; *piece != NULL; piece++)
    (void)fputs(*piece, out);
}
