/* call_list.c - the table of API calls: look-up, and the list as JSON */
#include "client/call.h"

#include "api/records.h"
#include "base/findings.h"
#include "json/writer.h"

#include <stdio.h>

/* The client has no handlers. */
#define HANDLE(name) .handle = NULL
#define TAKE(name) .take = NULL
#define ROUTE(...) { __VA_ARGS__ },

static const pai__api_route calls[] = {
#include "api/routes.inc"
};

const pai__api_route *pai__call_find(const char *name, const pai_alloc *alloc,
                                     pai_error **err)
{
  pai__names names;

  for (size_t i = 0; i < PAI__LEN(calls); i++)
    if (strcmp(calls[i].name, name) == 0)
      return &calls[i];
  pai__names_init(&names, alloc, name, strlen(name));
  for (size_t i = 0; i < PAI__LEN(calls); i++)
    pai__names_add(&names, calls[i].name, strlen(calls[i].name));
  (void)pai__fail(err, PAI_EINVAL, "there is no call '%s'", name);
  pai__names_tell(&names, err, "calls");
  return NULL;
}

const char *pai__call_param(const char *path, size_t *len)
{
  while (*path != '\0' && *path != ' ') {
    const char *part = path + 1;

    *len = strcspn(part, "/ ");
    if (*part == ':' || *part == '*') {
      --*len;
      return part + 1;
    }
    path = part + *len;
  }
  return NULL;
}

/* --- as JSON ------------------------------------------------------------- */

typedef pai__json_writer writer;

static void begin_argument(writer *w, const char *in, const char *name,
                           size_t len, const char *type)
{
  pai__json_begin_object(w);
  pai__json_member(w, "name");
  pai__json_text(w, name, len);
  pai__json_put_known(w, "in", in);
  pai__json_put_known(w, "type", type);
}

static void put_fields(writer *w, const char *in, const pai__api_field *f)
{
  static const char *const types[PAI__KINDS] = {
    [PAI__IS_TEXT] = "text",     [PAI__IS_FLAG] = "flag",
    [PAI__IS_NUMBER] = "number", [PAI__IS_WHOLE] = "whole",
    [PAI__IS_OBJECT] = "object", [PAI__IS_TEXTS] = "texts",
    [PAI__IS_ANY] = "any",
  };

  for (; f != NULL && f->kind != PAI__END; f++) {
    begin_argument(w, in, f->name, strlen(f->name), types[f->kind]);
    pai__json_put_bool(w, "required", (f->flags & PAI__NEEDED) != 0);
    if (f->missing != NULL) {
      pai__json_member(w, "default");
      pai__json_ready(w, f->missing, strlen(f->missing));
    }
    if (f->choices != NULL) {
      pai__json_put_array(w, "choices");
      for (const char *const *c = f->choices; *c != NULL; c++)
        pai__json_string(w, *c);
      pai__json_end_array(w);
    }
    pai__json_put_known(w, "text", f->what);
    pai__json_end_object(w);
  }
}

static void put_arguments(writer *w, const pai__api_route *call)
{
  const char *param = call->path;
  size_t len;

  pai__json_put_array(w, "arguments");
  while ((param = pai__call_param(param, &len)) != NULL) {
    begin_argument(w, "path", param, len, "text");
    pai__json_put_bool(w, "required", true);
    pai__json_end_object(w);
    param += len;
  }
  put_fields(w, "query", call->queries);
  if (call->body != NULL)
    put_fields(w, "body", call->body->fields);
  if (call->content != NULL) {
    begin_argument(w, "body", "body", 4, call->content);
    pai__json_put_bool(w, "required", true);
    pai__json_end_object(w);
  }
  pai__json_end_array(w);
}

/* As in the schema: "User", "[User]", "{User}", or a media type. */
static void put_answer(writer *w, const pai__api_answer *a)
{
  const char *name = a->type != NULL     ? a->type
                     : a->record != NULL ? a->record->name
                                         : "any";
  char text[64];

  (void)snprintf(text, sizeof(text), "%s%s%s",
                 a->kind == PAI__IS_LIST  ? "["
                 : a->kind == PAI__IS_MAP ? "{"
                                          : "",
                 name,
                 a->kind == PAI__IS_LIST  ? "]"
                 : a->kind == PAI__IS_MAP ? "}"
                                          : "");
  pai__json_string(w, text);
}

static void put_call(writer *w, const pai__api_route *call)
{
  static const char *const rights[PAI__RIGHTS] = {
    [PAI__OF_ALL] = "all",         [PAI__OF_USERS] = "users",
    [PAI__OF_PERSONS] = "persons", [PAI__OF_READERS] = "readers",
    [PAI__OF_OWNER] = "owner",     [PAI__OF_OWNER_ALONE] = "owner alone",
    [PAI__OF_ADMIN] = "admin",     [PAI__OF_ADMIN_PERSONS] = "admin persons",
  };

  pai__json_begin_object(w);
  pai__json_put_known(w, "name", call->name);
  pai__json_put_known(w, "summary", call->summary);
  pai__json_put_known(w, "right", rights[call->right]);
  pai__json_put_known(w, "method", pai__call_method(call));
  pai__json_member(w, "path");
  pai__json_text(w, call->path, strcspn(call->path, " "));
  put_arguments(w, call);
  pai__json_put_array(w, "answers");
  for (const pai__api_answer *a = call->result; a != NULL; a = a->other)
    if (a->kind != 0 || a->type != NULL)
      put_answer(w, a);
  pai__json_end_array(w);
  pai__json_put_known(w, "errors", call->errors);
  pai__json_end_object(w);
}

int pai_client_write_calls(pai_write_cb write, void *user_data,
                           pai_error **err)
{
  writer w;
  pai__buf out;
  int rc;

  PAI__CHECK_ARG_ERR(write != NULL, err);
  pai__buf_init(&out, pai__alloc_or_libc(NULL));
  pai__json_writer_init(&w, &out, false);
  pai__json_begin_array(&w);
  for (size_t i = 0; i < PAI__LEN(calls); i++)
    put_call(&w, &calls[i]);
  pai__json_end_array(&w);
  rc = pai__json_finish(&w) < 0
         ? pai__oom(err)
         : write(user_data, pai__buf_text(&out), out.len);
  pai__buf_dispose(&out);
  return rc;
}
