/* exports.h - how the exported functions hand results to core.js */
#ifndef OPENPAI_BINDINGS_JS_EXPORTS_H
#define OPENPAI_BINDINGS_JS_EXPORTS_H

#include "facade_fields.h"
#include "options.h"
#include "shared.h"
#include "sim_shared.h"

#include <stdlib.h>

#define JS_EXPORT(name) __attribute__((export_name(#name)))

/* Keeps a text, which core.js frees, as the result of this call. */
void js_give(job_text text);
/* Keeps a list of the strings as JSON. */
void js_give_strings(job_strings strings, failure *f);
/* Ends a call: sets its code, and the failure as JSON instead of the result. */
void js_keep(failure *f);

/* Returns the object of JavaScript with that number; NULL for 0. */
void *js_object(int number);

#endif /* OPENPAI_BINDINGS_JS_EXPORTS_H */
