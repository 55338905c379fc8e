/* wild.h - a policy that does anything it may, for tests */
#ifndef PAI_TESTS_WILD_H
#define PAI_TESTS_WILD_H

#include <openpai/policy.h>

/* Starts, claims, preempts and resizes by numbers that follow from one it keeps,
 * which it can clone, save and load. */
extern const pai_policy wild_policy;

#endif
