/* results.c - what the facade returns, as Lua values */
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
#else /* its integers may have 32 bits, its numbers have 53 */
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

int pai_lua_push_changes(lua_State *L, job_text changes)
{
  static const char *const names[] = { "kind", "pointer", "old", "new" };
  size_t at = 0;

  lua_newtable(L);
  for (int n = 1; at < changes.len; n++) {
    lua_createtable(L, 0, 4);
    for (int i = 0; i < 4; i++) {
      const char *part = changes.bytes + at;
      at += strlen(part) + 1;
      if (i < 2)
        pai_lua_set_string(L, names[i], part);
      else if (part[0] != '\0') {
        pai_lua_decode(L, part);
        lua_setfield(L, -2, names[i]);
      }
    }
    lua_rawseti(L, -2, n);
  }
  return 1;
}

/* Of the cluster, which it keeps; its address; the next node's number. */
static int next_node(lua_State *L)
{
  const Cluster *cluster = lua_touserdata(L, lua_upvalueindex(2));
  node_ref ref = { NULL, (size_t)lua_tointeger(L, lua_upvalueindex(3)) };
  failure f = { 0 };
  listing node;

  if (ref.number >= facade_node_count(cluster))
    return 0;
  node = facade_node(cluster, ref, &f);
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

static void push_fix(lua_State *L, const pai_fix *fix)
{
  lua_createtable(L, 0, 3);
  pai_lua_set_string(L, "title", fix->title);
  pai_lua_set_boolean(L, "sure", fix->sure);
  lua_createtable(L, (int)fix->edit_count, 0);
  for (size_t i = 0; i < fix->edit_count; i++) {
    const pai_text_edit *e = fix->edits[i];

    lua_createtable(L, 0, 5);
    pai_lua_set_integer(L, "line", e->line);
    pai_lua_set_integer(L, "column", e->column);
    pai_lua_set_integer(L, "end_line", e->end_line);
    pai_lua_set_integer(L, "end_column", e->end_column);
    pai_lua_set_string(L, "text", e->text);
    lua_rawseti(L, -2, (int)i + 1);
  }
  lua_setfield(L, -2, "edits");
}

static void push_diagnostic(lua_State *L, const pai_diagnostic *d)
{
  lua_createtable(L, 0, 13);
  pai_lua_set_string(L, "severity", facade_severity_name(d->severity));
  pai_lua_set_string(L, "code", d->code);
  pai_lua_set_string(L, "pointer", d->pointer);
  pai_lua_set_integer(L, "line", d->line);
  pai_lua_set_integer(L, "column", d->column);
  pai_lua_set_integer(L, "end_line", d->end_line);
  pai_lua_set_integer(L, "end_column", d->end_column);
  pai_lua_set_string(L, "message", d->message);
  pai_lua_set_string(L, "help", d->help);
  pai_lua_set_string(L, "source", d->source);
  if (d->source != NULL) {
    pai_lua_set_integer(L, "source_column", d->source_column);
    pai_lua_set_integer(L, "source_end_column", d->source_end_column);
  }
  lua_createtable(L, (int)d->fix_count, 0);
  for (size_t i = 0; i < d->fix_count; i++) {
    push_fix(L, d->fixes[i]);
    lua_rawseti(L, -2, (int)i + 1);
  }
  lua_setfield(L, -2, "fixes");
}

int pai_lua_push_report(lua_State *L, const pai_report *report)
{
  size_t count = report != NULL ? pai_report_count(report) : 0;

  if (report == NULL) /* the call failed */
    return 0;
  lua_createtable(L, (int)count, 2);
  pai_lua_set_boolean(L, "valid", pai_report_valid(report));
  if (pai_report_version(report) > 0)
    pai_lua_set_integer(L, "version", pai_report_version(report));
  for (size_t i = 0; i < count; i++) {
    push_diagnostic(L, pai_report_get(report, i));
    lua_rawseti(L, -2, (int)i + 1);
  }
  return 1;
}
