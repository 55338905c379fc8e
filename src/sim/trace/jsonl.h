/*
 * jsonl.h - internal: keys of our own form of trace (JSON lines), for its two
 * parsers
 *
 * The fast parser reads usual lines without a tree (jsonl_scan.c).  Lines that
 * it cannot read go to the parser that builds a tree and reports errors with
 * their place (jsonl.c).  Both use these tables, so a key means the same to
 * both.
 */
#ifndef PAI_SRC_SIM_TRACE_JSONL_H
#define PAI_SRC_SIM_TRACE_JSONL_H

#include "sim/trace/trace.h"

enum pai__key_kind {
  PAI__KEY_SECONDS, /* a pai_time */
  PAI__KEY_TEXT,    /* a slice */
  PAI__KEY_ID,      /* a slice; an integer is taken as its digits */
  PAI__KEY_WHOLE,   /* an int or a uint32_t, from low to high */
  PAI__KEY_BYTES,   /* a uint64_t */
  PAI__KEY_STATE,   /* an int: up, drain, sick */
  PAI__KEY_WANTS,
  PAI__KEY_ATTEMPTS,
  PAI__KEY_AFTER
};

/* Structs that the members of keys are in. */
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
  uint32_t count; /* number of keys, at most 32 */
} pai__keys;

extern const pai__keys pai__line_keys, pai__want_keys, pai__attempt_keys;

/* Bits of keys that the code tests by name: 1 << index in the table. */
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

/* Members of a line that are outside its lists.  The want and the attempt are
 * added to the draft if the line has no such list. */
typedef struct pai__jsonl_line {
  pai__draft_want want;      /* from "gpus", "tasks", ... of the line itself */
  pai_trace_attempt attempt; /* from "duration" and "code" */
  uint32_t seen;
} pai__jsonl_line;

/* A want with the defaults of all keys. */
extern const pai__draft_want pai__usual_want;

/* For each key, the key that followed it in the line before, as lines are
 * mostly alike. */
typedef struct pai__habits {
  uint8_t after[3][33];
} pai__habits;

/* Parses a line, which is followed by a NUL, into `line` and the draft.
 * Returns false if the line is unusual or wrong.  Slices point into the
 * text. */
bool pai__jsonl_scan(pai__jsonl_line *line, const char *text, size_t len,
                     pai_trace *t);

#endif
