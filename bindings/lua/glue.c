/* glue.c - the facade's failures, callbacks and options in Lua */
#include "glue.h"

#include <stdlib.h>
#include <string.h>

/* --- failures ----------------------------------------------------------- */

static char raised; /* its address is the registry key of a kept error */

static void push_error(lua_State *L, const failure *f)
{
  /* By PAI_NO_ANSWER_*; NULL sets no field. */
  static const char *const no_answer[] = { NULL, "not_reached", "lost", "late",
                                           "untrusted" };
  failure cause, none = { 0 };
  listing report;

  luaL_checkstack(L, 6, "too many causes");
  lua_createtable(L, 0, 12);
  pai_lua_set_string(L, "code", pai_code_name(f->code));
  pai_lua_set_string(L, "message", facade_message(f));
  pai_lua_set_string(L, "help", facade_help(f));
  pai_lua_set_string(L, "pointer", pai_error_pointer(f->err));
  pai_lua_set_string(L, "file", facade_file(f));
  if (facade_errno(f) != 0)
    pai_lua_set_integer(L, "errno", facade_errno(f));
  if (pai_error_line(f->err) > 0) {
    pai_lua_set_integer(L, "line", pai_error_line(f->err));
    pai_lua_set_integer(L, "column", pai_error_column(f->err));
  }
  pai_lua_set_boolean(L, "retriable", facade_retriable(f));
  pai_lua_set_string(L, "no_answer", no_answer[facade_no_answer(f)]);
  if (facade_retry_after(f) != 0)
    pai_lua_set_integer(L, "retry_after", facade_retry_after(f));
  pai_lua_set_string(L, "api_code", facade_api_code(f));
  if (facade_http_status(f) != 0)
    pai_lua_set_integer(L, "http_status", facade_http_status(f));
  if (f->report != NULL) {
    report = facade_report(f->report, &none);
    pai_lua_push_report(L, report.json.bytes);
    free(report.json.bytes);
    lua_setfield(L, -2, "report");
  }
  if (facade_cause(&cause, f)) {
    push_error(L, &cause);
    lua_setfield(L, -2, "cause");
  }
}

int pai_lua_fail(lua_State *L, failure *f)
{
  char *text;

  if (f->code == PAI_EUSER) {
    facade_failure_dispose(f);
    lua_pushlightuserdata(L, &raised);
    lua_rawget(L, LUA_REGISTRYINDEX);
    if (!lua_toboolean(L, -1)) { /* script_signals() noticed Ctrl-C */
      (void)lua_sethook(L, NULL, 0, 0);
      return luaL_error(L, "interrupted!");
    }
    lua_pushlightuserdata(L, &raised);
    lua_pushboolean(L, 0);
    lua_rawset(L, LUA_REGISTRYINDEX);
    return lua_error(L);
  }
  /* If Lua runs out of memory here, the error leaks, and nothing else. */
  text = facade_describe(f);
  lua_pushnil(L);
  lua_pushstring(L, text != NULL ? text : facade_message(f));
  free(text);
  lua_pushstring(L, pai_code_name(f->code));
  push_error(L, f);
  facade_failure_dispose(f);
  return 4;
}

/* --- callbacks ---------------------------------------------------------- */

typedef struct lua_listener {
  listener base;
  lua_State *home; /* Lua thread that made it */
  int thread;      /* reference that keeps `home` alive */
  int deliver;     /* reference to deliver(), which holds the function */
  int error;       /* reference to the first error, or to false */
  bool failed;
} lua_listener;

/* The Lua thread that waits, for each C thread, since each may run a Lua
 * state. */
static _Thread_local lua_State *waiting;

lua_State *pai_lua_enter(lua_State *L)
{
  lua_State *before = waiting;

  waiting = L;
  return before;
}

void pai_lua_leave(lua_State *before)
{
  waiting = before;
}

lua_State *pai_lua_waiting(void)
{
  return waiting;
}

static bool has_error(lua_State *L)
{
  bool has;

  lua_pushlightuserdata(L, &raised);
  lua_rawget(L, LUA_REGISTRYINDEX);
  has = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return has;
}

static void set_error(lua_State *L) /* to the value on top */
{
  lua_pushlightuserdata(L, &raised);
  lua_insert(L, -2);
  lua_rawset(L, LUA_REGISTRYINDEX); /* the key exists: no allocation */
}

void pai_lua_keep_error(lua_State *L)
{
  if (has_error(L))
    lua_pop(L, 1);
  else
    set_error(L);
}

bool pai_lua_settle(lua_State *L, bool failed)
{
  bool has = has_error(L);

  if (!has || failed)
    return has;
  lua_pushboolean(L, 0);
  set_error(L);
  return false;
}

static void push_event(lua_State *L, const pai_event *event)
{
  event_member members[EVENT_MEMBERS];

  facade_event_members(members, event);
  lua_createtable(L, 0, EVENT_MEMBERS + 1);
  for (int i = 0; i < EVENT_MEMBERS; i++) {
    const event_member *m = &members[i];

    if (m->kind == EVENT_NUMBER) {
      pai_lua_set_integer(L, m->name, m->number);
    } else if (m->kind != EVENT_NONE) {
      lua_pushlstring(L, m->text, m->len);
      lua_setfield(L, -2, m->name);
    }
  }
  lua_pushnumber(L, (lua_Number)pai_event_time(event) / 1e6);
  lua_setfield(L, -2, "time");
}

/* Called through pcall, which catches any error, even out of memory. Without
 * an event it only lets hooks run, by which lua(1) reports Ctrl-C. */
static int deliver(lua_State *L)
{
  const pai_event *event = lua_touserdata(L, 1);

  if (event == NULL)
    return 0;
  lua_pushvalue(L, lua_upvalueindex(1));
  push_event(L, event);
  lua_call(L, 1, 0);
  return 0;
}

/* Calls deliver(). Allocates nothing outside pcall, because an error must not
 * jump through the library. */
static int call(lua_listener *l, const pai_event *event)
{
  lua_State *L = waiting;

  lua_rawgeti(L, LUA_REGISTRYINDEX, l->deliver);
  lua_pushlightuserdata(L, (void *)event);
  if (lua_pcall(L, 1, 0, 0) == 0)
    return PAI_OK;
  if (l->failed) /* a hook's error; the first one is kept */
    lua_pop(L, 1);
  else
    lua_rawseti(L, LUA_REGISTRYINDEX, l->error);
  l->failed = true;
  return PAI_EUSER;
}

static int on_event(listener *base, const pai_event *event)
{
  return call((lua_listener *)base, event);
}

static int check(listener *base)
{
  return call((lua_listener *)base, NULL);
}

static void rethrow(listener *base)
{
  lua_listener *l = (lua_listener *)base;

  lua_pushlightuserdata(waiting, &raised);
  lua_rawgeti(waiting, LUA_REGISTRYINDEX, l->error);
  lua_rawset(waiting, LUA_REGISTRYINDEX); /* the key exists: no allocation */
  l->failed = false;
}

/* SWIG's destructors do not get a Lua thread, so `home` is used. */
static void free_listener(listener *base)
{
  lua_listener *l = (lua_listener *)base;
  lua_State *L = l->home;

  luaL_unref(L, LUA_REGISTRYINDEX, l->deliver);
  luaL_unref(L, LUA_REGISTRYINDEX, l->error);
  luaL_unref(L, LUA_REGISTRYINDEX, l->thread);
  free(l);
}

/* Makes a listener of the function or nil on top, which it pops. */
static listener *new_listener(lua_State *L)
{
  bool listens = !lua_isnil(L, -1);
  int function, error, thread;
  lua_listener *l;

  lua_pushcclosure(L, deliver, 1);
  function = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_pushboolean(L, 0);
  error = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_pushthread(L);
  thread = luaL_ref(L, LUA_REGISTRYINDEX);
  l = calloc(1, sizeof(*l));
  if (l == NULL) {
    luaL_error(L, "out of memory");
    return NULL;
  }
  *l = (lua_listener){
    .home = L, .thread = thread, .deliver = function, .error = error
  };
  l->base =
    (listener){ listens ? on_event : NULL, check, rethrow, free_listener };
  return &l->base;
}

/* --- arguments ---------------------------------------------------------- */

bool pai_lua_is_object(lua_State *L, int arg)
{
  if (lua_type(L, arg) != LUA_TUSERDATA || !luaL_getmetafield(L, arg, ".type"))
    return false;
  lua_pop(L, 1);
  return true;
}

const char *pai_lua_check_path(lua_State *L, int arg)
{
  size_t len;
  const char *path = luaL_checklstring(L, arg, &len);

  luaL_argcheck(L, strlen(path) == len, arg, "a path has no zero bytes");
  return path;
}

pai_job_id pai_lua_check_id(lua_State *L, int arg)
{
  return (pai_job_id)luaL_checkinteger(L, arg);
}

/* Returns whether the argument is a table of options. Raises an error for a
 * name that is not in `known`, which NULL ends; `names` is for its message. */
static bool has_options(lua_State *L, int arg, const char *const *known,
                        const char *names)
{
  if (arg == 0 || lua_isnoneornil(L, arg))
    return false;
  luaL_checktype(L, arg, LUA_TTABLE);
  for (lua_pushnil(L); lua_next(L, arg) != 0; lua_pop(L, 1)) {
    const char *name =
      lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
    size_t i = 0;
    while (known[i] != NULL && strcmp(name, known[i]) != 0)
      i++;
    if (known[i] == NULL)
      luaL_argerror(L, arg, lua_pushfstring(L, "options are %s", names));
  }
  return true;
}

/* Returns a boolean option, or `without` if it is not set. */
static bool option_flag(lua_State *L, int arg, const char *name, bool without)
{
  bool set;

  lua_getfield(L, arg, name);
  if (!lua_isnil(L, -1) && !lua_isboolean(L, -1))
    luaL_argerror(L, arg, lua_pushfstring(L, "%s is not a boolean", name));
  set = lua_isnil(L, -1) ? without : lua_toboolean(L, -1);
  lua_pop(L, 1);
  return set;
}

bool pai_lua_check_secrets(lua_State *L, int arg)
{
  static const char *const known[] = { "secrets", NULL };

  return has_options(L, arg, known, "secrets") &&
         option_flag(L, arg, "secrets", false);
}

void pai_lua_check_version(lua_State *L, int arg, int *version, bool *hived)
{
  static const char *const known[] = { "version", "hived", NULL };

  if (!has_options(L, arg, known, "version and hived"))
    return;
  *hived = option_flag(L, arg, "hived", false);
  lua_getfield(L, arg, "version");
  if (!lua_isnil(L, -1) && lua_type(L, -1) != LUA_TNUMBER)
    luaL_argerror(L, arg, "version is not a number");
  *version = (int)lua_tointeger(L, -1);
  lua_pop(L, 1);
}

draft_value pai_lua_check_value(lua_State *L, int arg)
{
  draft_value value = { .is_text = lua_type(L, arg) == LUA_TSTRING };

  if (!value.is_text)
    pai_lua_encode(L, arg); /* stays on the stack, which keeps it alive */
  value.text = lua_tolstring(L, value.is_text ? arg : -1, &value.len);
  return value;
}

/* Returns a text option. It stays on the stack, which keeps it alive. */
static char *option_text(lua_State *L, int arg, const char *name)
{
  lua_getfield(L, arg, name);
  if (lua_isnil(L, -1))
    return NULL;
  if (lua_type(L, -1) != LUA_TSTRING)
    luaL_argerror(L, arg, lua_pushfstring(L, "%s is not a string", name));
  return (char *)pai_lua_check_path(L, lua_gettop(L));
}

static listener *option_listener(lua_State *L, int arg)
{
  lua_getfield(L, arg, "on_event");
  if (!lua_isnil(L, -1) && !lua_isfunction(L, -1))
    luaL_argerror(L, arg, "on_event is not a function");
  return new_listener(L);
}

listener *pai_lua_check_options(lua_State *L, int arg, char **root)
{
  static const char *const known[] = { "root", "on_event", NULL };

  *root = NULL;
  if (!has_options(L, arg, known, "root and on_event")) {
    lua_pushnil(L);
    return new_listener(L);
  }
  *root = option_text(L, arg, "root");
  return option_listener(L, arg);
}

listener *pai_lua_check_platform(lua_State *L, int arg, char **root,
                                 bool *durable, char **runtime, char **policy)
{
  static const char *const known[] = { "root",   "durable",  "runtime",
                                       "policy", "on_event", NULL };

  *root = *runtime = *policy = NULL;
  *durable = true;
  if (!has_options(L, arg, known,
                   "root, durable, runtime, policy, on_event, keep_time, "
                   "keep_jobs and keep_bytes")) {
    lua_pushnil(L);
    return new_listener(L);
  }
  *root = option_text(L, arg, "root");
  *runtime = option_text(L, arg, "runtime");
  *policy = option_text(L, arg, "policy");
  *durable = option_flag(L, arg, "durable", true);
  return option_listener(L, arg);
}

/* --- the module --------------------------------------------------------- */

void pai_lua_init(lua_State *L)
{
  if (pai_version_number() < PAI_VERSION_NUMBER)
    luaL_error(L, "libopenpai %s is older than this module", pai_version());
  lua_pushlightuserdata(L, &raised);
  lua_pushboolean(L, 0);
  lua_rawset(L, LUA_REGISTRYINDEX);
  lua_pushliteral(L, "null");
  lua_pushlightuserdata(L, NULL);
  lua_rawset(L, -3);
  lua_pushliteral(L, "_VERSION");
  lua_pushstring(L, pai_version());
  lua_rawset(L, -3);
}
