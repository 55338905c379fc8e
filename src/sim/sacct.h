/* sacct.h - internal: what both forms of Slurm's accounting have in common */
#ifndef PAI_SRC_SIM_SACCT_H
#define PAI_SRC_SIM_SACCT_H

#include "sim/trace.h"

/* What Slurm tells of a job, whichever way. */
typedef struct pai__sacct_job {
  pai__slice state; /* "CANCELLED by 1001" */
  pai_time submit;
  pai_time start, end;     /* -1: not known */
  pai_time elapsed, limit; /* -1: not known; 0: none */
  int64_t code, signal;    /* of its exit */
  pai__draft_want all;     /* of all its nodes */
  uint32_t nodes;
} pai__sacct_job;

/* Puts a job whose texts are in the draft already; or says why not. */
int pai__sacct_put(pai_trace *t, pai__sacct_job *job, uint64_t line,
                   pai_error **err);

/* "billing=8,cpu=8,gres/gpu:v100=4,gres/gpu=4,mem=64G,node=2" */
void pai__sacct_tres(pai__sacct_job *job, pai__slice tres);
/* One of them; memory in bytes. */
void pai__sacct_resource(pai__sacct_job *job, pai__slice name, uint64_t count);

#endif
