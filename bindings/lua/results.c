/* results.c - results of the facade as Lua values */
#include "glue.h"

#include <stdlib.h>
#include <string.h>

/* --- fields of the table on top ----------------------------------------- */

void pai_lua_set_string(lua_State *L, const char *name, const char *value)
{
  if (value == NULL)
    return;
  lua_pushstring(L, value);
  lua_setfield(L, -2, name);
}

void pai_lua_set_integer(lua_State *L, const char *name, int64_t value)
{
#if LUA_VERSION_NUM >= 503
  lua_pushinteger(L, value);
#else /* integers may have 32 bits, numbers have 53 */
  lua_pushnumber(L, (lua_Number)value);
#endif
  lua_setfield(L, -2, name);
}

void pai_lua_set_boolean(lua_State *L, const char *name, bool value)
{
  lua_pushboolean(L, value);
  lua_setfield(L, -2, name);
}

/* --- results ------------------------------------------------------------ */

int pai_lua_push_state(lua_State *L, job_state s)
{
  lua_pushstring(L, facade_state_name(s.state)); /* nil for NULL */
  if (!facade_is_final(s.state))
    return 1;
  lua_pushinteger(L, s.code);
  return 2;
}

int pai_lua_push_strings(lua_State *L, job_strings strings)
{
  const char *s;

  lua_newtable(L);
  for (size_t i = 0; (s = strings.get(strings.spec, i)) != NULL; i++) {
    lua_pushstring(L, s);
    lua_rawseti(L, -2, (int)i + 1);
  }
  return 1;
}

/* Iterator over nodes. Upvalues: the cluster object, to keep it alive; its
 * address; the number of the next node. */
static int next_node(lua_State *L)
{
  const Cluster *cluster = lua_touserdata(L, lua_upvalueindex(2));
  node_ref ref = { NULL, (size_t)lua_tointeger(L, lua_upvalueindex(3)) };
  failure f = { 0 };
  listing node;

  if (ref.number >= facade_cluster_node_count(cluster))
    return 0;
  node = facade_cluster_node(cluster, ref, &f);
  if (node.json.bytes == NULL)
    return luaL_error(L, "%s", facade_message(&f));
  lua_pushinteger(L, (lua_Integer)ref.number + 1);
  lua_replace(L, lua_upvalueindex(3));
  pai_lua_decode(L, node.json.bytes);
  free(node.json.bytes);
  return 1;
}

int pai_lua_push_nodes(lua_State *L, node_walk walk)
{
  lua_pushvalue(L, 1);
  lua_pushlightuserdata(L, (void *)walk.cluster);
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, next_node, 3);
  return 1;
}

void pai_lua_push_report(lua_State *L, const char *json)
{
  static const char *const names[] = { "valid", "version" };

  pai_lua_decode(L, json);
  if (!lua_istable(L, -1))
    return; /* the call failed */
  lua_getfield(L, -1, "diagnostics");
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    lua_getfield(L, -2, names[i]);
    lua_setfield(L, -2, names[i]);
  }
  lua_remove(L, -2);
}
