/* values.c - converts Lua values to JSON, and back */
#include "glue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Deepest nesting, above that of any draft. Stops at cycles, and bounds the C
 * stack while reading. */
enum { DEEPEST = 100 };

/* --- to JSON ------------------------------------------------------------ */

/* Pieces of the text in a table. A luaL_Buffer would use the stack, which
 * lua_next() needs unchanged. */
typedef struct pieces {
  lua_State *L;
  int table, count;
} pieces;

static void put_top(pieces *p)
{
  lua_rawseti(p->L, p->table, ++p->count);
}

static void put(pieces *p, const char *s, size_t len)
{
  lua_pushlstring(p->L, s, len);
  put_top(p);
}

static void put_string(pieces *p, const char *s, size_t len)
{
  size_t start = 0;

  put(p, "\"", 1);
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)s[i];
    char escape[8];

    if (c >= 0x20 && c != '"' && c != '\\')
      continue;
    (void)snprintf(escape, sizeof(escape), "\\u%04x", (unsigned)c);
    put(p, s + start, i - start);
    put(p, escape, 6);
    start = i + 1;
  }
  put(p, s + start, len - start);
  put(p, "\"", 1);
}

/* Writes a whole number as an integer, even 4.0, which Lua 5.1 cannot tell
 * from 4. */
static void put_number(pieces *p, int at)
{
  lua_Number n = lua_tonumber(p->L, at);
  char text[40];

#if LUA_VERSION_NUM >= 503
  if (lua_isinteger(p->L, at)) {
    (void)snprintf(text, sizeof(text), "%lld",
                   (long long)lua_tointeger(p->L, at));
    put(p, text, strlen(text));
    return;
  }
#endif
  if (n - n != 0)
    luaL_error(p->L, "JSON has no infinite numbers");
  if (n > -9007199254740992.0 && n < 9007199254740992.0 &&
      (lua_Number)(long long)n == n) {
    (void)snprintf(text, sizeof(text), "%lld", (long long)n);
    put(p, text, strlen(text));
    return;
  }
  /* As short as possible: 0.1, not 0.10000000000000001. */
  (void)snprintf(text, sizeof(text), "%.15g", n);
  if (strtod(text, NULL) != n)
    (void)snprintf(text, sizeof(text), "%.17g", n);
  for (char *c = text; *c != '\0'; c++)
    if (*c == ',') /* decimal point of the locale */
      *c = '.';
  put(p, text, strlen(text));
}

static void put_value(pieces *p, int at, int depth);

static size_t count_pairs(lua_State *L, int at)
{
  size_t count = 0;

  for (lua_pushnil(L); lua_next(L, at) != 0; lua_pop(L, 1))
    count++;
  return count;
}

static void put_list(pieces *p, int at, int depth)
{
  size_t count = 0;

  put(p, "[", 1);
  for (;; count++) {
    lua_rawgeti(p->L, at, (int)count + 1);
    if (lua_isnil(p->L, -1))
      break;
    if (count > 0)
      put(p, ",", 1);
    put_value(p, lua_gettop(p->L), depth);
    lua_pop(p->L, 1);
  }
  lua_pop(p->L, 1);
  put(p, "]", 1);
  if (count_pairs(p->L, at) != count)
    luaL_error(p->L, "a list has keys from 1 on, and no others");
}

static int compare(const void *a, const void *b)
{
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void check_key(lua_State *L, int at)
{
  size_t len;

  if (lua_type(L, at) != LUA_TSTRING)
    luaL_error(L, "keys are strings, or the numbers of a list");
  if (strlen(lua_tolstring(L, at, &len)) != len)
    luaL_error(L, "a key has no zero bytes");
}

/* Pushes the sorted keys, so that equal tables give equal texts. */
static const char **push_keys(lua_State *L, int at, size_t *count)
{
  const char **keys;

  *count = count_pairs(L, at);
  keys = lua_newuserdata(L, (*count + 1) * sizeof(*keys));
  *count = 0;
  for (lua_pushnil(L); lua_next(L, at) != 0; lua_pop(L, 1)) {
    check_key(L, -2);
    keys[(*count)++] = lua_tostring(L, -2);
  }
  qsort(keys, *count, sizeof(*keys), compare);
  return keys;
}

static void put_mapping(pieces *p, int at, int depth)
{
  size_t count;
  const char **keys = push_keys(p->L, at, &count);

  put(p, "{", 1);
  for (size_t i = 0; i < count; i++) {
    if (i > 0)
      put(p, ",", 1);
    put_string(p, keys[i], strlen(keys[i]));
    put(p, ":", 1);
    lua_getfield(p->L, at, keys[i]);
    put_value(p, lua_gettop(p->L), depth);
    lua_pop(p->L, 1);
  }
  lua_pop(p->L, 1);
  put(p, "}", 1);
}

static void put_table(pieces *p, int at, int depth)
{
  bool list;

  if (depth > DEEPEST)
    luaL_error(p->L, "the table is nested too deep");
  luaL_checkstack(p->L, 10, "the table is nested too deep");
  lua_rawgeti(p->L, at, 1);
  list = !lua_isnil(p->L, -1);
  lua_pop(p->L, 1);
  if (list)
    put_list(p, at, depth);
  else
    put_mapping(p, at, depth);
}

static void put_value(pieces *p, int at, int depth)
{
  size_t len;
  const char *s;

  switch (lua_type(p->L, at)) {
  case LUA_TNUMBER: put_number(p, at); return;
  case LUA_TTABLE: put_table(p, at, depth + 1); return;
  case LUA_TNIL: put(p, "null", 4); return;
  case LUA_TBOOLEAN:
    if (lua_toboolean(p->L, at))
      put(p, "true", 4);
    else
      put(p, "false", 5);
    return;
  case LUA_TSTRING:
    s = lua_tolstring(p->L, at, &len);
    put_string(p, s, len);
    return;
  case LUA_TLIGHTUSERDATA:
    if (lua_touserdata(p->L, at) == NULL) {
      put(p, "null", 4);
      return;
    }
    break;
  default: break;
  }
  luaL_error(p->L, "a %s cannot be written as JSON",
             lua_typename(p->L, lua_type(p->L, at)));
}

void pai_lua_encode(lua_State *L, int arg)
{
  pieces p = { L, 0, 0 };
  luaL_Buffer text;

  lua_newtable(L);
  p.table = lua_gettop(L);
  put_value(&p, arg, 0);
  luaL_buffinit(L, &text);
  for (int i = 1; i <= p.count; i++) {
    lua_rawgeti(L, p.table, i);
    luaL_addvalue(&text);
  }
  luaL_pushresult(&text);
}

/* --- from JSON ---------------------------------------------------------- */

/* Text of the library is valid, but an answer of a server may be anything. */
typedef struct reader {
  lua_State *L;
  const char *at; /* ends with a zero */
  int depth;
} reader;

static void refuse(const reader *r)
{
  luaL_error(r->L, "this is no JSON");
}

static void want(reader *r, const char *text)
{
  size_t len = strlen(text);

  if (strncmp(r->at, text, len) != 0)
    refuse(r);
  r->at += len;
}

static void skip_space(reader *r)
{
  r->at += strspn(r->at, " \t\r\n");
}

static void add_utf8(luaL_Buffer *text, unsigned long c)
{
  int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  unsigned long lead = more == 0 ? 0 : (0xf00UL >> (more + 1)) & 0xff;

  luaL_addchar(text, (char)(lead | c >> 6 * more));
  while (more-- > 0)
    luaL_addchar(text, (char)(0x80 | (c >> 6 * more & 0x3f)));
}

/* Reads the four digits behind a "u". */
static unsigned long read_unit(reader *r)
{
  char digits[5] = "";

  (void)strncat(digits, r->at + 1, 4);
  if (strspn(digits, "0123456789abcdefABCDEF") != 4)
    refuse(r);
  r->at += 5;
  return strtoul(digits, NULL, 16);
}

static void read_escape(reader *r, luaL_Buffer *text)
{
  static const char names[] = "bfnrt", means[] = "\b\f\n\r\t";
  const char *name;
  unsigned long unit;

  if (*r->at == 'u') {
    unit = read_unit(r);
    if (unit >= 0xd800 && unit < 0xdc00 && r->at[0] == '\\' &&
        r->at[1] == 'u') {
      r->at++;
      unit = 0x10000 + ((unit - 0xd800) << 10) + (read_unit(r) - 0xdc00);
    }
    add_utf8(text, unit);
    return;
  }
  if (*r->at == '\0')
    refuse(r);
  name = strchr(names, *r->at);
  luaL_addchar(text, name != NULL ? means[name - names] : *r->at);
  r->at++;
}

static void read_string(reader *r)
{
  luaL_Buffer text;

  luaL_buffinit(r->L, &text);
  want(r, "\"");
  while (*r->at != '"') {
    if (*r->at == '\0')
      refuse(r);
    if (*r->at == '\\') {
      r->at++;
      read_escape(r, &text);
    } else {
      luaL_addchar(&text, *r->at);
      r->at++;
    }
  }
  r->at++;
  luaL_pushresult(&text);
}

static void read_number(reader *r)
{
  size_t len = strspn(r->at, "+-.0123456789eE");

  lua_pushlstring(r->L, r->at, len);
  if (!lua_isnumber(r->L, -1))
    refuse(r);
#if LUA_VERSION_NUM >= 503
  (void)lua_stringtonumber(r->L, lua_tostring(r->L, -1));
#else
  lua_pushnumber(r->L, lua_tonumber(r->L, -1));
#endif
  lua_remove(r->L, -2);
  r->at += len;
}

static void read_value(reader *r);

/* Skips space and a comma behind the opening bracket or an item. Returns
 * whether an item follows; else skips the closing bracket. */
static bool more_items(reader *r, char close, bool first)
{
  skip_space(r);
  if (*r->at == close) {
    r->at++;
    return false;
  }
  if (!first)
    want(r, ",");
  skip_space(r);
  return true;
}

static void read_list(reader *r)
{
  lua_newtable(r->L);
  r->at++;
  for (int i = 1; more_items(r, ']', i == 1); i++) {
    read_value(r);
    lua_rawseti(r->L, -2, i);
  }
}

static void read_mapping(reader *r)
{
  lua_newtable(r->L);
  r->at++;
  for (bool first = true; more_items(r, '}', first); first = false) {
    read_string(r);
    skip_space(r);
    want(r, ":");
    read_value(r);
    lua_rawset(r->L, -3);
  }
}

static void read_value(reader *r)
{
  if (++r->depth > DEEPEST)
    luaL_error(r->L, "the value is nested too deep");
  luaL_checkstack(r->L, 10, "the value is nested too deep");
  skip_space(r);
  switch (*r->at) {
  case '{': read_mapping(r); break;
  case '[': read_list(r); break;
  case '"': read_string(r); break;
  case 't':
    want(r, "true");
    lua_pushboolean(r->L, 1);
    break;
  case 'f':
    want(r, "false");
    lua_pushboolean(r->L, 0);
    break;
  case 'n':
    want(r, "null");
    lua_pushlightuserdata(r->L, NULL);
    break;
  default: read_number(r);
  }
  r->depth--;
}

void pai_lua_decode(lua_State *L, const char *json)
{
  reader r = { L, json, 0 };

  if (json == NULL) { /* the call failed */
    lua_pushnil(L);
    return;
  }
  read_value(&r);
  skip_space(&r);
  if (*r.at != '\0')
    refuse(&r);
}
