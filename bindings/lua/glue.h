/*
 * glue.h - the facade's failures, callbacks and values in Lua
 *
 * The check_ functions raise an error for a wrong argument, as luaL_check...
 * do. Works with Lua 5.1 (and LuaJIT) to 5.4.
 */
#ifndef OPENPAI_BINDINGS_LUA_GLUE_H
#define OPENPAI_BINDINGS_LUA_GLUE_H

#include "facade.h"

#include <lauxlib.h>
#include <lua.h>

/* Completes the module, whose table is on top of the stack. */
void pai_lua_init(lua_State *L);

/* Set the Lua thread that callbacks use. leave() gets what enter()
 * returned. */
lua_State *pai_lua_enter(lua_State *L);
void pai_lua_leave(lua_State *before);

lua_State *pai_lua_waiting(void);

/* Pops an error, and keeps it if it is the first one. */
void pai_lua_keep_error(lua_State *L);
/* Returns whether an error is kept. Drops it if the call has not failed. */
bool pai_lua_settle(lua_State *L, bool failed);

/* Frees the error. Returns the number of results (nil, message, code, table),
 * or raises the error that a callback raised. */
int pai_lua_fail(lua_State *L, failure *f);

/* Returns whether the argument is a SWIG object of any type. SWIG's own check
 * takes any userdata for one. */
bool pai_lua_is_object(lua_State *L, int arg);

/* Returns a string without zeros, as a path or another text. */
const char *pai_lua_check_path(lua_State *L, int arg);
pai_job_id pai_lua_check_id(lua_State *L, int arg);

/* From { root = PATH, on_event = FUNCTION }, nil, or nothing (arg is 0). */
listener *pai_lua_check_options(lua_State *L, int arg, char **root);
/* As pai_lua_check_options(), with the other options of a platform. */
listener *pai_lua_check_platform(lua_State *L, int arg, char **root,
                                 bool *durable, char **runtime, char **policy);

/* From { secrets = BOOLEAN }, or nil. */
bool pai_lua_check_secrets(lua_State *L, int arg);
/* From { version = NUMBER, hived = BOOLEAN }, or nil. */
void pai_lua_check_version(lua_State *L, int arg, int *version, bool *hived);

/* Converts a value to a draft value; a function and the like raise an error.
 * May push the text, which has to stay on the stack. */
draft_value pai_lua_check_value(lua_State *L, int arg);

/* Read words and marks (lists.c). The text replaces the argument, which may be
 * nil, or is on top of the stack, and has to stay there. */
words pai_lua_check_words(lua_State *L, int arg);
words pai_lua_check_marks(lua_State *L, int arg);
node_ref pai_lua_check_node(lua_State *L, int arg);
uint32_t pai_lua_check_number(lua_State *L, int arg);
machine_list pai_lua_check_machines(
  lua_State *L, int arg,
  const pai_topology *(*topology)(lua_State *L, int at));

/* From { root =, nvml =, paths =, all_groups = } or { root =, nvml =, pids =,
 * groups = }, or nil. Push values that have to stay on the stack. */
typedef struct sampler_options {
  const char *root, *nvml;
  words first, second; /* paths; or pids, groups */
  bool all_groups;
} sampler_options;
sampler_options pai_lua_check_sampler(lua_State *L, int arg, const char *first,
                                      const char *second);

/* For schedulers (script.c). A policy is nil, a name, or a table with name,
 * lends and hears. A log is nil, or a table with write(). */
policy_ref pai_lua_check_policy(lua_State *L, int arg);
log_ref pai_lua_check_log(lua_State *L, int arg);

/* Loads the parts of the module that are written in Lua, into the table on
 * top. `wrap` pushes an object that owns a host. */
typedef void (*pai_lua_wrap)(lua_State *L, Scheduler *host);
void pai_lua_init_scheduler(lua_State *L, pai_lua_wrap wrap);

/* Convert a value to JSON, and back; each pushes one value (values.c). A table
 * with a [1] is a list, other tables are objects; null is openpai.null. */
void pai_lua_encode(lua_State *L, int arg);
void pai_lua_decode(lua_State *L, const char *json);

/* Set a field of the table on top (results.c). A NULL string sets nothing. */
void pai_lua_set_string(lua_State *L, const char *name, const char *value);
void pai_lua_set_integer(lua_State *L, const char *name, int64_t value);
void pai_lua_set_boolean(lua_State *L, const char *name, bool value);

/* These return the number of values pushed. */
int pai_lua_push_state(lua_State *L, job_state s);
int pai_lua_push_strings(lua_State *L, job_strings strings);
int pai_lua_push_nodes(lua_State *L, node_walk walk); /* an iterator */

/* Pushes the list of what was found, with the fields valid and version. */
void pai_lua_push_report(lua_State *L, const char *json);

#endif /* OPENPAI_BINDINGS_LUA_GLUE_H */
