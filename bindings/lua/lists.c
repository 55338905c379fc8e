/* lists.c - Lua tables as the facade's words, marks and machines */
#include "glue.h"

#include <string.h>

#if LUA_VERSION_NUM < 502
#define lua_rawlen lua_objlen
#endif

static bool is_whole(lua_State *L, int at, uint32_t *number)
{
  lua_Number n = lua_tonumber(L, at);
  bool whole = lua_isnumber(L, at) && n >= 0 && n <= INT32_MAX &&
               n == (lua_Number)(int32_t)n;

  *number = whole ? (uint32_t)n : 0;
  return whole;
}

static const char number_wanted[] =
  "a whole number from 0 to 2147483647 is wanted";

/* --- words ---------------------------------------------------------------- */

/* Words collected in a table, because lua_next() needs an unchanged stack. */
typedef struct gathered {
  lua_State *L;
  int table, count;
} gathered;

static gathered gather(lua_State *L)
{
  luaL_checkstack(L, 12, "too many arguments");
  lua_newtable(L);
  return (gathered){ L, lua_gettop(L), 0 };
}

/* Adds the value at `at` as a word. A number has to be an integer. */
static void add_value(gathered *g, int arg, int at)
{
  uint32_t number;
  size_t len;
  const char *s;

  lua_pushvalue(g->L, at);
  if (lua_type(g->L, -1) == LUA_TNUMBER) {
    if (!is_whole(g->L, -1, &number))
      luaL_argerror(g->L, arg, number_wanted);
    lua_pushfstring(g->L, "%d", (int)number);
    lua_remove(g->L, -2);
  }
  if (lua_type(g->L, -1) != LUA_TSTRING)
    luaL_argerror(g->L, arg, "a list has texts or numbers");
  s = lua_tolstring(g->L, -1, &len);
  luaL_argcheck(g->L, strlen(s) == len, arg, "a text has no zero bytes");
  lua_rawseti(g->L, g->table, ++g->count);
}

static void add_text(gathered *g, const char *text)
{
  lua_pushstring(g->L, text);
  lua_rawseti(g->L, g->table, ++g->count);
}

/* Replaces the table by the words as one string. */
static words joined(gathered *g)
{
  luaL_Buffer text;
  words w;

  luaL_buffinit(g->L, &text);
  for (int i = 1; i <= g->count; i++) {
    lua_rawgeti(g->L, g->table, i);
    luaL_addvalue(&text);
    luaL_addlstring(&text, "", 1); /* its terminating zero */
  }
  luaL_pushresult(&text);
  lua_replace(g->L, g->table);
  lua_settop(g->L, g->table);
  w.bytes = lua_tolstring(g->L, g->table, &w.len);
  return w;
}

/* Pushes the words of the list at `at`. nil is an empty list. */
static words push_words(lua_State *L, int arg, int at)
{
  gathered g = gather(L);

  if (!lua_isnil(L, at) && !lua_istable(L, at))
    luaL_argerror(L, arg, "a list is wanted");
  for (int i = 1; lua_istable(L, at); i++) {
    lua_rawgeti(L, at, i);
    if (lua_isnil(L, -1))
      break;
    add_value(&g, arg, lua_gettop(L));
    lua_pop(L, 1);
  }
  lua_settop(L, g.table);
  return joined(&g);
}

words pai_lua_check_words(lua_State *L, int arg)
{
  words w = push_words(L, arg, arg);

  lua_replace(L, arg); /* keeps the string alive */
  return w;
}

/* --- marks ---------------------------------------------------------------- */

/* Adds the mark on top, of the GPU whose number is below it. */
static void add_mark(gathered *g, int arg, const char *node)
{
  lua_State *L = g->L;
  int mark = lua_gettop(L);

  if (lua_type(L, mark - 1) != LUA_TNUMBER)
    luaL_argerror(L, arg, "marks are found by numbers of GPUs, from 0");
  add_text(g, node);
  add_value(g, arg, mark - 1);
  if (lua_istable(L, mark)) {
    lua_rawgeti(L, mark, 1);
    add_value(g, arg, mark + 1);
    lua_rawgeti(L, mark, 2);
    if (lua_isnil(L, -1))
      add_text(g, "");
    else
      add_value(g, arg, mark + 2);
  } else {
    add_text(g, lua_toboolean(L, mark) ? "used" : "free");
    if (lua_isboolean(L, mark))
      add_text(g, "");
    else
      add_value(g, arg, mark);
  }
  lua_settop(L, mark);
}

/* Reads { [0] = "alice", [1] = false, [2] = { "sick", "why" } }, or, in a
 * cluster, a table of such tables by node name. */
words pai_lua_check_marks(lua_State *L, int arg)
{
  gathered g = gather(L);

  if (!lua_isnil(L, arg))
    luaL_checktype(L, arg, LUA_TTABLE);
  if (lua_istable(L, arg))
    for (lua_pushnil(L); lua_next(L, arg) != 0; lua_pop(L, 1)) {
      int marks = lua_gettop(L);

      if (lua_type(L, -2) != LUA_TSTRING || !lua_istable(L, -1)) {
        add_mark(&g, arg, "");
        continue;
      }
      for (lua_pushnil(L); lua_next(L, marks) != 0; lua_pop(L, 1))
        add_mark(&g, arg, lua_tostring(L, marks - 1));
    }
  (void)joined(&g);
  lua_replace(L, arg);
  return (words){ lua_tostring(L, arg), lua_rawlen(L, arg) };
}

/* --- other arguments -------------------------------------------------------- */

uint32_t pai_lua_check_number(lua_State *L, int arg)
{
  uint32_t number;

  if (!is_whole(L, arg, &number))
    luaL_argerror(L, arg, number_wanted);
  return number;
}

node_ref pai_lua_check_node(lua_State *L, int arg)
{
  if (lua_type(L, arg) == LUA_TNUMBER)
    return (node_ref){ NULL, pai_lua_check_number(L, arg) };
  return (node_ref){ pai_lua_check_path(L, arg), 0 };
}

/* Returns a string field of the table on top, which keeps it alive, or
 * NULL. */
static const char *field(lua_State *L, int arg, const char *name)
{
  const char *s = NULL;

  lua_pushstring(L, name);
  lua_rawget(L, -2);
  if (lua_type(L, -1) == LUA_TSTRING)
    s = lua_tostring(L, -1);
  else if (!lua_isnil(L, -1))
    luaL_argerror(L, arg, lua_pushfstring(L, "%s is not a string", name));
  lua_pop(L, 1);
  return s;
}

machine_list pai_lua_check_machines(
  lua_State *L, int arg, const pai_topology *(*topology)(lua_State *L, int at))
{
  pai_cluster_machine *list;
  size_t count;

  luaL_checktype(L, arg, LUA_TTABLE);
  luaL_checkstack(L, 8, "too many arguments");
  count = lua_rawlen(L, arg);
  list = lua_newuserdata(L, (count + 1) * sizeof(*list));
  for (size_t i = 0; i < count; i++) {
    lua_rawgeti(L, arg, (int)i + 1);
    if (!lua_istable(L, -1))
      luaL_argerror(L, arg, "a machine is { name =, rack =, topology = }");
    list[i] = (pai_cluster_machine){ .struct_size = sizeof(*list) };
    list[i].name = field(L, arg, "name");
    list[i].rack = field(L, arg, "rack");
    lua_pushliteral(L, "topology");
    lua_rawget(L, -2);
    list[i].topology = topology(L, lua_gettop(L));
    if (list[i].topology == NULL)
      luaL_argerror(L, arg, "a machine has no topology");
    lua_pop(L, 2);
  }
  return (machine_list){ list, count };
}

static void check_options(lua_State *L, int arg, const char *first,
                          const char *second)
{
  const char *flag = second != NULL ? second : "all_groups";

  luaL_checktype(L, arg, LUA_TTABLE);
  for (lua_pushnil(L); lua_next(L, arg) != 0; lua_pop(L, 1)) {
    const char *name =
      lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
    if (strcmp(name, "root") != 0 && strcmp(name, "nvml") != 0 &&
        strcmp(name, first) != 0 && strcmp(name, flag) != 0)
      luaL_argerror(
        L, arg,
        lua_pushfstring(L, "options are root, nvml, %s and %s", first, flag));
  }
}

static words words_field(lua_State *L, int arg, const char *name)
{
  lua_pushstring(L, name);
  lua_rawget(L, arg);
  return push_words(L, arg, lua_gettop(L));
}

sampler_options pai_lua_check_sampler(lua_State *L, int arg, const char *first,
                                      const char *second)
{
  sampler_options o = { NULL, NULL, { "", 0 }, { "", 0 }, false };

  if (lua_isnil(L, arg))
    return o;
  check_options(L, arg, first, second);
  lua_pushvalue(L, arg);
  o.root = field(L, arg, "root");
  o.nvml = field(L, arg, "nvml");
  o.first = words_field(L, arg, first);
  if (second != NULL) {
    o.second = words_field(L, arg, second);
    return o;
  }
  lua_pushliteral(L, "all_groups");
  lua_rawget(L, arg);
  o.all_groups = lua_toboolean(L, -1);
  return o;
}
