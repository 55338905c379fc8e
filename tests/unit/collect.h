/* collect.h - what is written goes into a buffer; for unit tests and fuzzers */
#ifndef PAI_TESTS_COLLECT_H
#define PAI_TESTS_COLLECT_H

#include "base/base.h"
#include "base/buf.h"

/* A pai_write_cb; `buf` is a pai__buf. */
static inline int test_collect(void *buf, const char *bytes, size_t len)
{
  pai__buf_add(buf, bytes, len);
  return pai__buf_ok(buf) ? PAI_OK : PAI_ENOMEM;
}

#endif
