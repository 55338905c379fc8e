/*
 * glue.h - the facade's failures, callbacks and lists as Lua values
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

/* Frees the error.  Returns the number of results: nil, message, code, table;
 * or raises what a callback has raised. */
int pai_lua_fail(lua_State *L, failure *f);

/* Of SWIG's, whichever: its own test takes any userdata for one. */
bool pai_lua_is_object(lua_State *L, int arg);

const char *pai_lua_check_path(lua_State *L, int arg);
pai_job_id pai_lua_check_id(lua_State *L, int arg);

/* From { root = PATH, on_event = FUNCTION }, nil, or nothing (arg is 0). */
listener *pai_lua_check_options(lua_State *L, int arg, char **root);

/* These return the number of values pushed. */
int pai_lua_push_state(lua_State *L, job_state s);
int pai_lua_push_roles(lua_State *L, job_roles roles);
int pai_lua_push_notes(lua_State *L, job_notes notes);

#endif /* OPENPAI_BINDINGS_LUA_GLUE_H */
