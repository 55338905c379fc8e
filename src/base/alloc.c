/*
 * alloc.c - allocation, strings, vectors, and copying of callers' option
 * structs
 */
#include "base/base.h"

#include <stdlib.h>

static void *libc_realloc(void *ctx, void *p, size_t old_size, size_t new_size)
{
  (void)ctx;
  (void)old_size;
  if (new_size == 0) {
    free(p);
    return NULL;
  }
  return realloc(p, new_size);
}

const pai_alloc pai__libc_alloc = { NULL, libc_realloc };

void *pai__realloc(const pai_alloc *a, void *p, size_t old_n, size_t new_n,
                   size_t size)
{
  if (size != 0 && new_n > SIZE_MAX / size)
    return NULL;
  return a->realloc_fn(a->ctx, p, old_n * size, new_n * size);
}

void *pai__zalloc(const pai_alloc *a, size_t size)
{
  void *p = a->realloc_fn(a->ctx, NULL, 0, size);

  if (p != NULL)
    memset(p, 0, size);
  return p;
}

void pai__free(const pai_alloc *a, void *p, size_t bytes)
{
  if (p != NULL)
    (void)a->realloc_fn(a->ctx, p, bytes, 0);
}

char *pai__strndup(const pai_alloc *a, const char *s, size_t len)
{
  char *copy = pai__realloc(a, NULL, 0, len + 1, 1);

  if (copy == NULL)
    return NULL;
  if (len != 0)
    memcpy(copy, s, len);
  copy[len] = '\0';
  return copy;
}

char *pai__strdup(const pai_alloc *a, const char *s)
{
  return pai__strndup(a, s, strlen(s));
}

void pai__strfree(const pai_alloc *a, char *s)
{
  if (s != NULL)
    pai__free(a, s, strlen(s) + 1);
}

int pai__vec_grow(const pai_alloc *a, void *vec, size_t *cap, size_t size)
{
  size_t want = *cap + *cap / 2 + 8;
  void *old, *grown;

  memcpy(&old, vec, sizeof(old)); /* vec is a T ** of unknown T */
  grown = want > *cap ? pai__realloc(a, old, *cap, want, size) : NULL;
  if (grown == NULL)
    return PAI_ENOMEM; /* the vector is as it was */
  memcpy(vec, &grown, sizeof(grown));
  *cap = want;
  return PAI_OK;
}

int pai__copy_in(void *dst, size_t dst_size, const void *src,
                 size_t first_size)
{
  size_t size = 0, copied = 0;
  int rc = PAI_OK;

  if (src != NULL) {
    memcpy(&size, src, sizeof(size)); /* struct_size comes first */
    if (size < first_size || size > 65536)
      rc = PAI_EINVAL;
    for (size_t i = dst_size; i < size && rc == PAI_OK; i++)
      if (((const unsigned char *)src)[i] != 0)
        rc = PAI_ENOTSUP; /* a newer caller sets unknown options */
  }
  if (src != NULL && rc == PAI_OK) {
    copied = size < dst_size ? size : dst_size;
    memcpy(dst, src, copied);
  }
  if (copied < dst_size)
    memset((char *)dst + copied, 0, dst_size - copied);
  return rc;
}

int pai__options_in(void *dst, size_t dst_size, const void *src,
                    size_t first_size)
{
  const unsigned char *bytes = src;
  size_t size = 1;

  if (src != NULL)
    memcpy(&size, src, sizeof(size));
  if (size != 0)
    return pai__copy_in(dst, dst_size, src, first_size);
  memset(dst, 0, dst_size);
  for (size_t i = 0; i < dst_size; i++)
    if (bytes[i] != 0)
      return PAI_EINVAL;
  return PAI_OK;
}

int pai__fail_struct(pai_error **err, int code, const void *src,
                     const char *type)
{
  size_t size = 0;

  if (src == NULL)
    return pai__fail(err, code, "%s is required", type);
  memcpy(&size, src, sizeof(size)); /* struct_size comes first */
  if (code == PAI_ENOTSUP) {
    (void)pai__fail(err, code,
                    "%s has a member that libopenpai %s does not know", type,
                    pai_version());
    pai__error_help(
      err, "install the library of these headers: struct_size is %zu", size);
    return code;
  }
  (void)pai__fail(
    err, code, "%s: struct_size is %zu, which is not its size in any version",
    type, size);
  pai__error_help(err, "set it: %s x = { .struct_size = sizeof(x) };", type);
  return code;
}

int pai__fill_view(void *view, const void *full, size_t size,
                   size_t first_size)
{
  size_t wanted;

  memcpy(&wanted, view, sizeof(wanted)); /* struct_size comes first */
  if (wanted < first_size || wanted > 65536)
    return PAI_EINVAL;
  if (wanted > size) /* the caller's header is newer: unknown members are
                        zeroed */
    memset((char *)view + size, 0, wanted - size);
  memcpy((char *)view + sizeof(size_t), (const char *)full + sizeof(size_t),
         (wanted < size ? wanted : size) - sizeof(size_t));
  return PAI_OK;
}
