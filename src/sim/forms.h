/* forms.h - internal: the readers of each form, for the table of them all */
#ifndef PAI_SRC_SIM_FORMS_H
#define PAI_SRC_SIM_FORMS_H

#include "sim/trace.h"

int pai__sacct_begin(pai_trace *t, pai_error **err);
int pai__sacct_read(pai_trace *t, pai_error **err);
int pai__swf_begin(pai_trace *t, pai_error **err);
int pai__swf_read(pai_trace *t, pai_error **err);
void pai__swf_end(pai_trace *t);
int pai__helios_begin(pai_trace *t, pai_error **err);
int pai__helios_read(pai_trace *t, pai_error **err);
int pai__openb_begin(pai_trace *t, pai_error **err);
int pai__openb_read(pai_trace *t, pai_error **err);
int pai__muri_begin(pai_trace *t, pai_error **err);
int pai__muri_read(pai_trace *t, pai_error **err);
int pai__gavel_begin(pai_trace *t, pai_error **err);
int pai__gavel_read(pai_trace *t, pai_error **err);
/* Their state is a pai__table. */
void pai__rows_end(pai_trace *t);

int pai__pai2020_begin(pai_trace *t, pai_error **err);
int pai__pai2020_read(pai_trace *t, pai_error **err);
void pai__pai2020_end(pai_trace *t);

int pai__philly_begin(pai_trace *t, pai_error **err);
int pai__sacct_json_begin(pai_trace *t, pai_error **err);
int pai__openpai_begin(pai_trace *t, pai_error **err);
int pai__kubernetes_begin(pai_trace *t, pai_error **err);

#endif
