/* sched_tables.h - the state of a scheduler as tables and as JSON */
#ifndef PAI_SRC_CLI_SCHED_TABLES_H
#define PAI_SRC_CLI_SCHED_TABLES_H

#include "sched_log.h"

/* A list of the state: its JSON and the columns of its table. */
typedef struct sched_table {
  const char *key; /* of the list in the JSON object */
  void (*put)(FILE *out, const pai_sched *s);
  const cli_column *columns;
} sched_table;

enum { SCHED_VCS, SCHED_NODES, SCHED_REQUESTS, SCHED_TABLES };
extern const sched_table sched_tables[SCHED_TABLES];

/* Prints one JSON object with the time. */
void sched_json(FILE *out, const pai_sched *s, const sched_table *table);
/* Prints the table with its heading. */
void sched_show(const pai_sched *s, const sched_table *table);

/* Prints one line: policy, time, totals. */
void sched_show_sums(const sched_log *log);
/* Decisions have one heading for all lines. */
void sched_show_head(void);
void sched_show_decisions(const sched_log *log, int n);
/* The same as lines of JSON. */
void sched_json_decisions(const sched_log *log, int n);

#endif
