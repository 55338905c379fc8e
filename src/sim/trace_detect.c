/* trace_detect.c - which form a trace has, by its first bytes */
#include "sim/documents.h"
#include "sim/forms.h"

const pai__trace_form pai__trace_forms[PAI__TRACE_FORMS] = {
  [PAI_TRACE_JSONL] = { "jsonl", pai__jsonl_read, pai__jsonl_begin,
                        pai__jsonl_end, false },
  [PAI_TRACE_SACCT] = { "sacct", pai__sacct_read, pai__sacct_begin,
                        pai__rows_end, false },
  [PAI_TRACE_SACCT_JSON] = { "sacct_json", pai__documents_read,
                             pai__sacct_json_begin, pai__documents_end,
                             false },
  [PAI_TRACE_SWF] = { "swf", pai__swf_read, pai__swf_begin, pai__swf_end,
                      false },
  [PAI_TRACE_PHILLY] = { "philly", pai__documents_read, pai__philly_begin,
                         pai__documents_end, true },
  [PAI_TRACE_HELIOS] = { "helios", pai__helios_read, pai__helios_begin,
                         pai__rows_end, false },
  [PAI_TRACE_ALIBABA_2020] = { "alibaba2020", pai__pai2020_read,
                               pai__pai2020_begin, pai__pai2020_end, true },
  [PAI_TRACE_ALIBABA_2023] = { "alibaba2023", pai__openb_read,
                               pai__openb_begin, pai__rows_end, false },
  [PAI_TRACE_OPENPAI] = { "openpai", pai__documents_read, pai__openpai_begin,
                          pai__documents_end, true },
  [PAI_TRACE_KUBERNETES] = { "kubernetes", pai__documents_read,
                             pai__kubernetes_begin, pai__documents_end, true },
  [PAI_TRACE_GAVEL] = { "gavel", pai__gavel_read, pai__gavel_begin,
                        pai__rows_end, false },
  [PAI_TRACE_MURI] = { "muri", pai__muri_read, pai__muri_begin, pai__rows_end,
                       false },
  [PAI_TRACE_GENERATED] = { .name = "generated" },
};

/* Where a word begins, or NULL. */
static const char *find(const char *text, size_t len, const char *word)
{
  size_t n = strlen(word);

  for (const char *p = text; len >= n;) {
    const char *found = memchr(p, *word, len - n + 1);

    if (found == NULL)
      return NULL;
    if (memcmp(found, word, n) == 0)
      return found;
    len -= (size_t)(found + 1 - p);
    p = found + 1;
  }
  return NULL;
}

static bool has(const char *text, size_t len, const char *word)
{
  return find(text, len, word) != NULL;
}

/* The first time that a word is there, is it a key? */
static bool has_key(const char *text, size_t len, const char *word)
{
  const char *end = text + len, *at = find(text, len, word);

  if (at == NULL)
    return false;
  at += strlen(word);
  while (at < end && (*at == ' ' || *at == '\t'))
    at++;
  return at < end && *at == ':';
}

bool pai__looks_like_job(const char *text, size_t len)
{
  static const char yaml[] = "protocolVersion";

  while (len != 0 && (*text == ' ' || *text == '\n' || *text == '\r')) {
    text++;
    len--;
  }
  if (len != 0 && *text == '{')
    return has_key(text, len, "\"taskRoles\"");
  return (len >= sizeof(yaml) && memcmp(text, yaml, sizeof(yaml) - 1) == 0) ||
         has(text, len, "\nprotocolVersion:") ||
         has(text, len, "\ntaskRoles:");
}

static size_t count_of(const char *text, size_t len, char c)
{
  size_t count = 0;

  for (size_t i = 0; i < len; i++)
    count += text[i] == c;
  return count;
}

/* Words that only one form has; the first one that is there counts. */
typedef struct pai__form_word {
  const char *word;
  int form;
} pai__form_word;

static int by_words(const char *text, size_t len, const pai__form_word *words,
                    size_t n)
{
  for (size_t i = 0; i < n; i++)
    if (has(text, len, words[i].word))
      return words[i].form;
  return PAI_TRACE_AUTO;
}

static int detect_json(const char *text, size_t len)
{
  static const pai__form_word words[] = {
    { "\"submitted_time\"", PAI_TRACE_PHILLY },
    { "\"submissionTime\"", PAI_TRACE_OPENPAI },
    { "\"creationTimestamp\"", PAI_TRACE_KUBERNETES },
    { "\"association\"", PAI_TRACE_SACCT_JSON },
    { "\"submission\"", PAI_TRACE_SACCT_JSON },
    { "\"apiVersion\"", PAI_TRACE_KUBERNETES },
  };
  const char *line = memchr(text, '\n', len);
  size_t first = line != NULL ? (size_t)(line - text) : len;
  int form;

  /* a line that ends with its brace and has a time is surely ours */
  if (*text == '{' && has(text, first, "\"time\"") &&
      has(text, first, "\"duration\""))
    return PAI_TRACE_JSONL;
  form = by_words(text, len, words, PAI__LEN(words));
  return form != PAI_TRACE_AUTO || *text == '[' ? form : PAI_TRACE_JSONL;
}

static bool is_number_line(const char *text, size_t len)
{
  for (size_t i = 0; i < len; i++)
    if ((text[i] < '0' || text[i] > '9') && text[i] != '-' && text[i] != '.' &&
        text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
      return false;
  return len >= 35; /* 18 numbers, and what is between them */
}

static int detect_rows(const char *text, size_t len)
{
  static const pai__form_word words[] = {
    { "JobID", PAI_TRACE_SACCT },
    { "gpu_milli", PAI_TRACE_ALIBABA_2023 },
    { "gpu_num", PAI_TRACE_HELIOS },
    { "num_gpu", PAI_TRACE_MURI },
    { "plan_gpu", PAI_TRACE_ALIBABA_2020 },
    { "inst_id", PAI_TRACE_ALIBABA_2020 },
    { ",Terminated,", PAI_TRACE_ALIBABA_2020 },
    { ",Failed,", PAI_TRACE_ALIBABA_2020 },
    { ",Running,", PAI_TRACE_ALIBABA_2020 },
    { ",Waiting,", PAI_TRACE_ALIBABA_2020 },
  };
  size_t tabs = count_of(text, len, '\t');
  int form = by_words(text, len, words, PAI__LEN(words));

  if (form != PAI_TRACE_AUTO)
    return form;
  if (is_number_line(text, len))
    return PAI_TRACE_SWF;
  return tabs == 6 || tabs == 9 ? PAI_TRACE_GAVEL : PAI_TRACE_AUTO;
}

int pai__trace_detect(const char *text, size_t len)
{
  const char *line;
  size_t i = 0;

  while (i < len && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r' ||
                     text[i] == '\n'))
    i++;
  text += i;
  len -= i;
  if (len == 0)
    return PAI_TRACE_JSONL; /* nothing is a trace of nothing */
  if (*text == '{' || *text == '[')
    return detect_json(text, len);
  if (*text == ';')
    return PAI_TRACE_SWF;
  line = memchr(text, '\n', len);
  return detect_rows(text, line != NULL ? (size_t)(line - text) : len);
}
