/* trace_detect.c - which form a trace has */
#include "sim/trace.h"

const pai__trace_form pai__trace_forms[PAI__TRACE_FORMS] = {
  [PAI_TRACE_JSONL] = { "jsonl", pai__jsonl_read, pai__jsonl_begin,
                        pai__jsonl_end, false },
  [PAI_TRACE_GENERATED] = { .name = "generated" },
};

int pai__trace_detect(const char *text, size_t len)
{
  size_t i = 0;

  while (i < len && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' ||
                     text[i] == '\n'))
    i++;
  return i == len || text[i] == '{' ? PAI_TRACE_JSONL : PAI_TRACE_AUTO;
}
