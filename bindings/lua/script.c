/* script.c - Lua tables that the library calls: policies and callbacks */
#include "accounts_lua.h"
#include "calls_lua.h"
#include "client_lua.h"
#include "files_lua.h"
#include "forecast_lua.h"
#include "glue.h"
#include "hived_lua.h"
#include "life_lua.h"
#include "platform_lua.h"
#include "scheduler_lua.h"
#include "session_lua.h"
#include "shadow_lua.h"
#include "trace_lua.h"

#include <stdlib.h>
#include <string.h>

/* A table with functions. All schedulers of a policy share it. */
typedef struct lua_object {
  lua_State *home; /* Lua thread that made it */
  int thread;      /* reference that keeps `home` alive */
  int table;       /* reference to the table */
  int server;      /* reference to serve() */
  int refs;
} lua_object;

static pai_lua_wrap wrap;

/* --- calling --------------------------------------------------------------- */

typedef struct asked {
  const lua_object *object;
  const char *method;
  Scheduler *host; /* NULL: none, or Lua owns it */
  const char *text;
  size_t len;
  job_text *answer;  /* result of the method as a text, or NULL */
  lua_object **copy; /* result of clone(), or NULL */
} asked;

static lua_object *new_object(lua_State *L, int at);

static void take_answer(lua_State *L, const asked *a)
{
  size_t len;
  const char *s;

  if (a->copy != NULL)
    *a->copy = new_object(L, lua_gettop(L));
  if (a->answer == NULL)
    return;
  s = luaL_checklstring(L, -1, &len);
  a->answer->bytes = malloc(len + 1);
  if (a->answer->bytes == NULL) {
    luaL_error(L, "out of memory");
    return;
  }
  memcpy(a->answer->bytes, s, len + 1);
  a->answer->len = len;
}

/* Calls the method. Called through pcall, which catches any error, even out of
 * memory. */
static int serve(lua_State *L)
{
  asked *a = lua_touserdata(L, 1);
  Scheduler *host = a->host;
  int top, rc, args = 0;

  luaL_checkstack(L, 8, "too many calls");
  lua_pushlstring(L, a->text != NULL ? a->text : "", a->len);
  if (host != NULL) {
    wrap(L, host); /* stays on the stack, which keeps it alive */
    a->host = NULL;
  }
  top = lua_gettop(L);
  lua_rawgeti(L, LUA_REGISTRYINDEX, a->object->table);
  lua_getfield(L, -1, a->method);
  if (host != NULL) {
    lua_pushvalue(L, top);
    args++;
  }
  if (a->text != NULL) {
    lua_pushvalue(L, 2);
    args++;
  }
  rc = lua_pcall(L, args, 1, 0);
  if (host != NULL)
    facade_host_end(host); /* the script may still refer to it */
  if (rc != 0)
    return lua_error(L);
  take_answer(L, a);
  return 0;
}

/* Calls serve(). Allocates nothing outside pcall, because an error must not
 * jump through the library. */
static int call(asked *a)
{
  lua_State *L = pai_lua_waiting();

  lua_rawgeti(L, LUA_REGISTRYINDEX, a->object->server);
  lua_pushlightuserdata(L, a);
  if (lua_pcall(L, 1, 0, 0) == 0)
    return PAI_OK;
  if (a->host != NULL) { /* out of memory before Lua owned it */
    facade_host_end(a->host);
    facade_sched_free(a->host);
  }
  pai_lua_keep_error(L);
  return PAI_EUSER;
}

int script_ask(void *object, const char *method, Scheduler *host,
               const char *text, size_t len, job_text *answer)
{
  asked a = { object, method, host, text, len, answer, NULL };

  return call(&a);
}

bool script_settle(bool failed)
{
  return pai_lua_settle(pai_lua_waiting(), failed);
}

/* Returns whether Ctrl-C was pressed: the handler of lua(1) then sets a hook
 * for all that the state does next, to raise an error there. */
bool script_signals(void)
{
  lua_State *L = pai_lua_waiting();

  enum { ALL = LUA_MASKCALL | LUA_MASKRET | LUA_MASKCOUNT };

  return L != NULL && lua_gethook(L) != NULL && lua_gethookcount(L) == 1 &&
         (lua_gethookmask(L) & ALL) == ALL;
}

/* --- life ------------------------------------------------------------------ */

/* Makes an object of the table at `at`. May raise an error, and leak then. */
static lua_object *new_object(lua_State *L, int at)
{
  lua_object *object;
  int table, server, thread;

  luaL_checktype(L, at, LUA_TTABLE);
  lua_pushvalue(L, at);
  table = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_pushcfunction(L, serve);
  server = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_pushthread(L);
  thread = luaL_ref(L, LUA_REGISTRYINDEX);
  object = malloc(sizeof(*object));
  if (object == NULL)
    luaL_error(L, "out of memory");
  else
    *object = (lua_object){ L, thread, table, server, 1 };
  return object;
}

void *script_hold(void *object)
{
  ((lua_object *)object)->refs++;
  return object;
}

void *script_clone(void *object)
{
  lua_object *copy = NULL;
  asked a = { object, "clone", NULL, NULL, 0, NULL, &copy };

  return call(&a) == PAI_OK ? copy : NULL;
}

void script_drop(void *object)
{
  lua_object *o = object;
  lua_State *L;

  if (o == NULL || --o->refs > 0)
    return;
  L = o->home;
  luaL_unref(L, LUA_REGISTRYINDEX, o->table);
  luaL_unref(L, LUA_REGISTRYINDEX, o->server);
  luaL_unref(L, LUA_REGISTRYINDEX, o->thread);
  free(o);
}

/* --- arguments ------------------------------------------------------------- */

policy_ref pai_lua_check_policy(lua_State *L, int arg)
{
  policy_ref policy = { NULL, NULL, false, false };

  if (lua_isnoneornil(L, arg))
    return policy;
  if (lua_type(L, arg) == LUA_TSTRING) {
    policy.name = pai_lua_check_path(L, arg);
    return policy;
  }
  luaL_checktype(L, arg, LUA_TTABLE);
  lua_getfield(L, arg, "lends");
  policy.lends = lua_toboolean(L, -1);
  lua_getfield(L, arg, "hears");
  policy.hears = lua_toboolean(L, -1);
  lua_getfield(L, arg, "name"); /* stays on the stack, which keeps it alive */
  policy.name = luaL_checkstring(L, -1);
  policy.object = new_object(L, arg);
  return policy;
}

log_ref pai_lua_check_log(lua_State *L, int arg)
{
  return (log_ref){ lua_isnil(L, arg) ? NULL : new_object(L, arg) };
}

/* --- the module ------------------------------------------------------------ */

static int encode(lua_State *L)
{
  lua_settop(L, 1);
  pai_lua_encode(L, 1);
  return 1;
}

static int decode(lua_State *L)
{
  pai_lua_decode(L, luaL_checkstring(L, 1));
  return 1;
}

/* Runs a part of the module that is written in Lua. */
static void run_half(lua_State *L, const char *text, size_t size)
{
  if (luaL_loadbuffer(L, text, size - 1, "=openpai") != 0)
    lua_error(L);
  lua_pushvalue(L, -2);
  lua_pushcfunction(L, encode);
  lua_pushcfunction(L, decode);
  lua_call(L, 3, 0);
}

void pai_lua_init_scheduler(lua_State *L, pai_lua_wrap wrap_host)
{
  wrap = wrap_host;
  run_half(L, scheduler_lua, sizeof(scheduler_lua));
  run_half(L, hived_lua, sizeof(hived_lua));
  run_half(L, life_lua, sizeof(life_lua));
  run_half(L, trace_lua, sizeof(trace_lua));
  run_half(L, platform_lua, sizeof(platform_lua));
  run_half(L, shadow_lua, sizeof(shadow_lua));
  run_half(L, session_lua, sizeof(session_lua));
  run_half(L, client_lua, sizeof(client_lua));
  run_half(L, calls_lua, sizeof(calls_lua));
  run_half(L, files_lua, sizeof(files_lua));
  run_half(L, accounts_lua, sizeof(accounts_lua));
  run_half(L, forecast_lua, sizeof(forecast_lua));
}
