/*
 * jsonl.h - internal: the keys of our own form, for its two readers
 *
 * One reads usual lines as they stand, in one go (jsonl_scan.c); whatever it
 * does not take is read by the other, of a tree, which knows what is wrong and
 * where (jsonl.c).  Both go by these tables, so they cannot differ in what a
 * key means.
 */
#ifndef PAI_SRC_SIM_JSONL_H
#define PAI_SRC_SIM_JSONL_H

#include "sim/trace.h"

enum pai__key_kind {
  PAI__KEY_SECONDS, /* a pai_time */
  PAI__KEY_TEXT,    /* a slice */
  PAI__KEY_ID,      /* likewise; a whole number is its digits */
  PAI__KEY_WHOLE,   /* an int or a uint32_t, from low to high */
  PAI__KEY_BYTES,   /* a uint64_t */
  PAI__KEY_STATE,   /* an int: up, drain, sick */
  PAI__KEY_WANTS,
  PAI__KEY_ATTEMPTS,
  PAI__KEY_AFTER
};

/* In which struct a member is. */
enum { PAI__IN_DRAFT, PAI__IN_WANT, PAI__IN_ATTEMPT, PAI__INS };

typedef struct pai__key {
  const char *key;
  uint8_t len, kind, in;
  size_t offset;
  int64_t low, high;
} pai__key;

typedef struct pai__keys {
  const char *what; /* "a record" */
  const pai__key *list;
  uint32_t count; /* at most 32 */
} pai__keys;

extern const pai__keys pai__line_keys, pai__want_keys, pai__attempt_keys;

/* Bits of keys that are asked for by name: their places in the table. */
enum {
  PAI__SEEN_TIME = 1u << 0,
  PAI__SEEN_TYPE = 1u << 6,
  PAI__SEEN_TASKS = 1u << 7,
  PAI__SEEN_MIN_TASKS = 1u << 8,
  PAI__SEEN_GPUS = 1u << 9,
  PAI__SEEN_CPUS = 1u << 10,
  PAI__SEEN_MEMORY = 1u << 11,
  PAI__SEEN_PORTS = 1u << 12,
  PAI__SEEN_DURATION = 1u << 13,
  PAI__SEEN_CODE = 1u << 14,
  PAI__SEEN_WANTS = 1u << 22,
  PAI__SEEN_ATTEMPTS = 1u << 23,
  PAI__SEEN_KILL = 1u << 25,
  PAI__SEEN_NODE = 1u << 26,
  PAI__SEEN_STATE = 1u << 27,
  PAI__SEEN_WHY = 1u << 28
};

/* What a line without any key would be: put into the draft, which has room for
 * one want and one attempt. */
typedef struct pai__line {
  pai__draft *draft;
  pai__draft_want want; /* of "gpus", "tasks", ... beside the line's others */
  pai_trace_attempt attempt; /* of "duration" and "code" */
  uint32_t seen;
} pai__line;

/* A want as it is before any key was read. */
extern const pai__draft_want pai__usual_want;

/* Which key came after which, last time: lines are mostly alike. */
typedef struct pai__habits {
  uint8_t after[3][33];
} pai__habits;

/* Reads a line that is followed by a NUL.  1: it is read; 0: it may be good,
 * but not in the usual way, or it is wrong; or PAI_ENOMEM.  Slices point into
 * the text. */
int pai__jsonl_scan(pai__line *line, const char *text, size_t len,
                    pai__habits *habits, const pai_alloc *alloc);

#endif
