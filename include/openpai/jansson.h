/**
 * @file openpai/jansson.h
 * Conversions between the JSON of this library and json_t of jansson.
 * Header-only; the only header that needs jansson (2.9 or later); not part of
 * <openpai/openpai.h>.
 *
 * Pass pai_jansson_write() as the pai_write_cb of any function that writes
 * JSON, and a pai_jansson as the user_data:
 *
 *     pai_jansson text = PAI_JANSSON_INIT;
 *     json_t *jobs = NULL;
 *     if (pai_platform_list(platform, NULL, pai_jansson_write, &text, &err) == 0)
 *       jobs = pai_jansson_take(&text, NULL);
 *     pai_jansson_dispose(&text);
 *
 * A returned json_t is a new reference, to be released with json_decref().
 *
 * Threads: as jansson; the functions have no state.
 */
#ifndef OPENPAI_JANSSON_H
#define OPENPAI_JANSSON_H

#include <openpai/client.h>
#include <openpai/json.h>
#include <openpai/spec.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

PAI_BEGIN_DECLS

#ifdef __cplusplus
#define PAI_JANSSON_CAST(type, value) static_cast<type>(value)
#else
#define PAI_JANSSON_CAST(type, value) ((type)(value))
#endif

/** A text buffer, allocated with malloc(). */
typedef struct pai_jansson {
  char *text;
  size_t len, size;
} pai_jansson;

#define PAI_JANSSON_INIT \
  {                      \
    NULL, 0, 0           \
  }

/** Appends bytes to a pai_jansson: a pai_write_cb.
 *  @return 0; PAI_ENOMEM, which the call that writes then returns
 *  @since 0.1 */
static inline int pai_jansson_write(void *user_data, const char *bytes,
                                    size_t len)
{
  pai_jansson *j = PAI_JANSSON_CAST(pai_jansson *, user_data);

  if (len > j->size - j->len) {
    size_t size = j->size < 1024 ? 1024 : j->size;
    char *text;

    while (size - j->len < len) {
      if (size > SIZE_MAX / 2)
        return PAI_ENOMEM;
      size *= 2;
    }
    text = PAI_JANSSON_CAST(char *, realloc(j->text, size));
    if (text == NULL)
      return PAI_ENOMEM;
    j->text = text;
    j->size = size;
  }
  if (len > 0)
    memcpy(j->text + j->len, bytes, len);
  j->len += len;
  return PAI_OK;
}

/** Frees the text.  @since 0.1 */
static inline void pai_jansson_dispose(pai_jansson *j)
{
  free(j->text);
  j->text = NULL;
  j->len = j->size = 0;
}

/** Parses JSON text; the value need not be a list or an object.  Integers that
 *  are too large for jansson are read as reals.
 *  @return NULL: not JSON, a real number is too large, or out of memory;
 *          jansson's message is in @p error, which may be NULL  @since 0.1 */
static inline json_t *pai_jansson_read(const char *text, size_t len,
                                       json_error_t *error)
{
  const size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL;
  json_t *value = json_loadb(text, len, flags, error);

  return value != NULL
           ? value
           : json_loadb(text, len, flags | JSON_DECODE_INT_AS_REAL, error);
}

/** Parses the collected text, and frees it.
 *  @return as pai_jansson_read()  @since 0.1 */
static inline json_t *pai_jansson_take(pai_jansson *j, json_error_t *error)
{
  json_t *value =
    pai_jansson_read(j->text != NULL ? j->text : "", j->len, error);

  pai_jansson_dispose(j);
  return value;
}

/** Parses the answer of a server (pai_client_cb).  @since 0.1 */
static inline json_t *pai_jansson_answer(const pai_client_answer *answer,
                                         json_error_t *error)
{
  return pai_jansson_read(answer->body != NULL ? answer->body : "",
                          answer->body_len, error);
}

/** Converts a value of a pai_json; 0 is the whole text.
 *  @return NULL: no such value, a real number is too large, or out of memory
 *  @since 0.1 */
static inline json_t *pai_jansson_value(const pai_json *json, size_t value)
{
  pai_jansson text = PAI_JANSSON_INIT;

  if (pai_json_write(json, value, pai_jansson_write, &text, NULL) == PAI_OK)
    return pai_jansson_take(&text, NULL);
  pai_jansson_dispose(&text);
  return NULL;
}

/** Converts a spec to an object of protocol v2.
 *  @param secrets   1: write secrets; 0: write "******" instead
 *  @param[out] err  NULL, or receives the error
 *  @return NULL on failure  @since 0.1 */
static inline json_t *pai_jansson_spec(const pai_spec *spec, int secrets,
                                       pai_error **err)
{
  pai_spec_write_options opts = PAI_SPEC_WRITE_OPTIONS_INIT;
  pai_jansson text = PAI_JANSSON_INIT;

  opts.format = PAI_FORMAT_JSON;
  opts.secrets = secrets;
  if (pai_spec_write(spec, &opts, pai_jansson_write, &text, err) == PAI_OK)
    return pai_jansson_take(&text, NULL);
  pai_jansson_dispose(&text);
  return NULL;
}

/** Writes a value as JSON text, NUL-terminated, to be freed with free().
 *  @param[out] len NULL is allowed
 *  @return NULL: out of memory, or a real number is not finite  @since 0.1 */
static inline char *pai_jansson_text(const json_t *value, size_t *len)
{
  char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

  if (len != NULL)
    *len = text != NULL ? strlen(text) : 0;
  return text;
}

/** Makes a spec from an object of protocol v2 or of config v1.
 *  @return as pai_spec_parse(); lines and columns in errors refer to the text
 *          of pai_jansson_text(); JSON pointers refer to @p job  @since 0.1 */
static inline int pai_spec_from_jansson(pai_spec **out, const json_t *job,
                                        const pai_spec_options *opts,
                                        pai_error **err)
{
  size_t len;
  char *text = pai_jansson_text(job, &len);
  int rc;

  if (out != NULL)
    *out = NULL;
  if (err != NULL)
    *err = NULL;
  if (text == NULL && job != NULL)
    return PAI_ENOMEM;
  rc = pai_spec_parse(out, text, text != NULL ? len : 1, opts, err);
  free(text);
  return rc;
}

PAI_END_DECLS

#endif /* OPENPAI_JANSSON_H */
