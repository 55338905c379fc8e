/* sched_tables.h - what can be seen of a scheduler, as tables and as JSON */
#ifndef PAI_SRC_CLI_SCHED_TABLES_H
#define PAI_SRC_CLI_SCHED_TABLES_H

#include "sched_log.h"

/* One line for people: policy, time, sums. */
void sched_show_sums(const sched_log *log);

/* Tables, each with its head. */
void sched_show_vcs(const pai_sched *s);
void sched_show_nodes(const pai_sched *s);
void sched_show_requests(const pai_sched *s);
/* Decisions have their head said once. */
void sched_show_head(void);
void sched_show_decisions(const sched_log *log, int n);

/* The same as one JSON object each, with the time; decisions a line each. */
void sched_json_vcs(const pai_sched *s);
void sched_json_nodes(const pai_sched *s);
void sched_json_requests(const pai_sched *s);
void sched_json_decisions(const sched_log *log, int n);

#endif
