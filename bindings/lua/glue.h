/*
 * glue.h - the facade's failures, callbacks and values in Lua
 *
 * The check_ functions raise an error for a wrong argument, as luaL_check...
 * do.  Lua 5.1 (and LuaJIT) to 5.4.
 */
#ifndef OPENPAI_BINDINGS_LUA_GLUE_H
#define OPENPAI_BINDINGS_LUA_GLUE_H

#include "facade.h"

#include <lauxlib.h>
#include <lua.h>

/* Completes the module, whose table is on top. */
void pai_lua_init(lua_State *L);

/* Says which thread callbacks use; leave() gets what enter() returned. */
lua_State *pai_lua_enter(lua_State *L);
void pai_lua_leave(lua_State *before);

lua_State *pai_lua_waiting(void);

/* Pops an error, and keeps it if it is the first. */
void pai_lua_keep_error(lua_State *L);
/* Is there one?  That of a call that has not failed is forgotten. */
bool pai_lua_settle(lua_State *L, bool failed);

/* Frees the error.  Returns the number of results: nil, message, code, table;
 * or raises what a callback has raised. */
int pai_lua_fail(lua_State *L, failure *f);

/* Of SWIG's, whichever: its own test takes any userdata for one. */
bool pai_lua_is_object(lua_State *L, int arg);

/* Also of other strings without zeros. */
const char *pai_lua_check_path(lua_State *L, int arg);
pai_job_id pai_lua_check_id(lua_State *L, int arg);

/* From { root = PATH, on_event = FUNCTION }, nil, or nothing (arg is 0). */
listener *pai_lua_check_options(lua_State *L, int arg, char **root);
/* The same, with what else a platform may be told. */
listener *pai_lua_check_platform(lua_State *L, int arg, char **root,
                                 bool *durable, char **runtime, char **policy);

/* From { FLAG = BOOLEAN, version = NUMBER } or nil. */
void pai_lua_check_version(lua_State *L, int arg, const char *flag, bool *set,
                           int *version);

/* Any value but functions and such; may push one that it needs. */
draft_value pai_lua_check_value(lua_State *L, int arg);

/* Words and marks (lists.c).  What they point into takes the place of the
 * argument, which may be nil, or is on top of the stack. */
words pai_lua_check_words(lua_State *L, int arg);
words pai_lua_check_marks(lua_State *L, int arg);
node_ref pai_lua_check_node(lua_State *L, int arg);
uint32_t pai_lua_check_number(lua_State *L, int arg);
machine_list pai_lua_check_machines(
  lua_State *L, int arg,
  const pai_topology *(*topology)(lua_State *L, int at));

/* From { root =, nvml =, paths =, all_groups = } and { root =, nvml =, pids =,
 * groups = }, or nil, or nothing (arg is 0); push what they need. */
typedef struct sampler_options {
  const char *root, *nvml;
  words first, second; /* paths; or pids, groups */
  bool all_groups;
} sampler_options;
sampler_options pai_lua_check_sampler(lua_State *L, int arg, const char *first,
                                      const char *second);

/* Of schedulers (script.c): nil, a name, or a table with name, lends and hears;
 * nil, or a table with write(). */
policy_ref pai_lua_check_policy(lua_State *L, int arg);
log_ref pai_lua_check_log(lua_State *L, int arg);

/* The module's table is on top.  `wrap` pushes what owns a host. */
typedef void (*pai_lua_wrap)(lua_State *L, Scheduler *host);
void pai_lua_init_scheduler(lua_State *L, pai_lua_wrap wrap);

/* A value as JSON, and back; each pushes one value (values.c).  A table with a
 * [1] is a list, others are mappings; null is openpai.null. */
void pai_lua_encode(lua_State *L, int arg);
void pai_lua_decode(lua_State *L, const char *json);

/* Set a field of the table on top; NULL sets none (results.c). */
void pai_lua_set_string(lua_State *L, const char *name, const char *value);
void pai_lua_set_integer(lua_State *L, const char *name, int64_t value);
void pai_lua_set_boolean(lua_State *L, const char *name, bool value);

/* These return the number of values pushed. */
int pai_lua_push_state(lua_State *L, job_state s);
int pai_lua_push_strings(lua_State *L, job_strings strings);
int pai_lua_push_changes(lua_State *L, job_text changes);
int pai_lua_push_nodes(lua_State *L, node_walk walk); /* for loops */
int pai_lua_push_report(lua_State *L, const pai_report *report);

#endif /* OPENPAI_BINDINGS_LUA_GLUE_H */
