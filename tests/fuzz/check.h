/* check.h - what must hold for every tree that a fuzzer makes a reader make */
#ifndef PAI_TESTS_FUZZ_CHECK_H
#define PAI_TESTS_FUZZ_CHECK_H

#include "collect.h"
#include "trees.h"

#include <openpai/sched.h>

#include <stdio.h>
#include <stdlib.h>

/* Each fuzz target; libFuzzer's name for it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A failure has a message on one line, and a place inside the text. */
void check_error(const pai_error *err, int rc);

/* Written as JSON it reads back as the same JSON; written as YAML, which is
 * read in this mode, too. */
void check_round_trips(const pai__tree *t, int yaml_mode);

/* Can the scheduler be driven in a short time?  A million of instances that want
 * nothing can all start: that takes long. */
bool check_small(const pai_sched *s);

#endif
