/* forms.h - internal: functions of each form of trace that read a row or a
 * JSON element */
#ifndef PAI_SRC_SIM_TRACE_FORMS_H
#define PAI_SRC_SIM_TRACE_FORMS_H

#include "sim/trace/trace.h"

extern const pai__sim_rows pai__sacct_rows, pai__swf_rows, pai__helios_rows,
  pai__openb_rows, pai__muri_rows, pai__gavel_rows, pai__pai2020_rows;

int pai__pai2020_begin(pai_trace *t, pai_error **err);
int pai__pai2020_read(pai_trace *t, pai_error **err);
void pai__pai2020_end(pai_trace *t);

int pai__philly_put(pai_trace *t, const pai__tree *tree, uint64_t line,
                    pai_error **err);
int pai__sacct_json_put(pai_trace *t, const pai__tree *tree, uint64_t line,
                        pai_error **err);
int pai__openpai_put(pai_trace *t, const pai__tree *tree, uint64_t line,
                     pai_error **err);
int pai__kubernetes_put(pai_trace *t, const pai__tree *tree, uint64_t line,
                        pai_error **err);

#endif
