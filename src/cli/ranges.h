/* ranges.h - names of many nodes in a word: "n[1-8,10],gpu[01-16]" */
#ifndef PAI_SRC_CLI_RANGES_H
#define PAI_SRC_CLI_RANGES_H

#include <stdbool.h>

/* Calls back with each name, in order; a word without brackets and commas is
 * one.  CLI_OK; CLI_USAGE: the word makes no sense, or more than a million
 * names, and that is told; or what the callback answered, if not CLI_OK. */
int cli_ranges(const char *word,
               int (*each)(void *user_data, const char *name),
               void *user_data);

#endif
