/* script.c - objects of JavaScript that the library calls: policies and
 * callbacks. An object is a number, by which core.js knows it. */
#include "exports.h"

#define JS_IMPORT(name) \
  __attribute__((import_module("openpai"), import_name(#name)))

/* Calls a method with the host and the text, if there are any. Writes what it
 * returns to `answer`, if that is not NULL. Keeps an error and returns false. */
JS_IMPORT(ask)
bool js_ask(int object, const char *method, Scheduler *host, const char *text,
            size_t len, job_text *answer);
JS_IMPORT(hold) void js_hold(int object);
JS_IMPORT(drop) void js_drop(int object);
/* Returns the number of the result of clone(); 0 after an error. */
JS_IMPORT(clone) int js_clone(int object);
/* Returns whether an error is kept, which it forgets if not `failed`. */
JS_IMPORT(settle) bool js_settle(bool failed);

void *js_object(int number)
{
  return (void *)(intptr_t)number;
}

static int number_of(const void *object)
{
  return (int)(intptr_t)object;
}

int script_ask(void *object, const char *method, Scheduler *host,
               const char *text, size_t len, job_text *answer)
{
  bool done = js_ask(number_of(object), method, host, text, len, answer);

  if (host != NULL) {
    facade_host_end(host);
    facade_sched_free(host); /* core.js refuses further calls on it */
  }
  return done ? PAI_OK : PAI_EUSER;
}

void *script_hold(void *object)
{
  js_hold(number_of(object));
  return object;
}

void *script_clone(void *object)
{
  return js_object(js_clone(number_of(object)));
}

void script_drop(void *object)
{
  if (object != NULL)
    js_drop(number_of(object));
}

bool script_settle(bool failed)
{
  return js_settle(failed);
}

bool script_signals(void)
{
  return false;
}
