/* source.c - checks a YAML text, and maps libyaml's marks back to it */
#include "yaml/source.h"
#include "base/text/utf8.h"

/* --- characters that libyaml must not see ------------------------------- */

/* js-yaml takes these characters for content, but libyaml for line breaks or
 * errors.  A tab is replaced only where a block scalar begins with it. */
static const uint32_t odd_ones[] = { '\t',   0x7f,   0x2028, 0x2029,
                                     0xfeff, 0xfffe, 0xffff };

enum { STAND_IN = 4 }; /* bytes */

/* Returns the number of an odd character, or -1 for others.  U+0080 to U+009F
 * follow those of the list. */
static int odd_index(uint32_t c)
{
  if (c >= 0x80 && c < 0xa0)
    return (int)(PAI__LEN(odd_ones) + c - 0x80);
  for (size_t i = 0; i < PAI__LEN(odd_ones); i++)
    if (odd_ones[i] == c)
      return (int)i;
  return -1;
}

static uint32_t odd_char(unsigned index)
{
  return index < PAI__LEN(odd_ones)
           ? odd_ones[index]
           : 0x80 + index - (uint32_t)PAI__LEN(odd_ones);
}

/* Returns whether js-yaml allows an odd character only in quotes. */
static bool only_quoted(uint32_t c)
{
  return c != '\t' && c != 0x85 && c != 0x2028 && c != 0x2029 && c != 0xfeff;
}

size_t pai__yaml_restore(const pai__yaml_source *s, char *text, size_t len,
                         uint32_t *odd)
{
  char *to = text;

  *odd = 0;
  if (s->stand_in[0] == '\0')
    return len;
  for (size_t i = 0; i < len;) {
    uint32_t c;
    if (len - i < 4 || memcmp(text + i, s->stand_in, 3) != 0) {
      *to++ = text[i++];
      continue;
    }
    c = odd_char((unsigned char)text[i + 3] & 0x3fu);
    if (*odd == 0 && only_quoted(c))
      *odd = c;
    to += pai__utf8_put(to, c);
    i += 4;
  }
  *to = '\0';
  return (size_t)(to - text);
}

/* --- edits -------------------------------------------------------------- */

static int add_edit(pai__yaml_source *s, size_t fed, size_t text)
{
  if (PAI__VEC_ROOM(s->alloc, s->edits, s->nedits, s->edit_cap) < 0)
    return PAI_ENOMEM;
  s->edits[s->nedits++] = (pai__yaml_edit){ (uint32_t)fed, (uint32_t)text };
  return PAI_OK;
}

size_t pai__yaml_text_byte(const pai__yaml_source *s, size_t fed)
{
  size_t low = 0, high = s->nedits; /* finds the first edit after fed */

  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (s->edits[mid].fed <= fed)
      low = mid + 1;
    else
      high = mid;
  }
  return low == 0 ? fed : fed - s->edits[low - 1].fed + s->edits[low - 1].text;
}

size_t pai__yaml_fed_byte(pai__yaml_source *s, size_t index)
{
  const char *p = s->fed + s->at_byte;

  if (s->bytes)
    return index < s->len ? index : s->len;
  /* Marks come nearly in order, so the steps add up to about one pass. */
  for (; s->at_char < index && p < s->fed + s->len; s->at_char++)
    do
      p++;
    while (p < s->fed + s->len && !pai__utf8_first(*p));
  for (; s->at_char > index; s->at_char--)
    do
      p--;
    while (!pai__utf8_first(*p));
  s->at_byte = (size_t)(p - s->fed);
  return s->at_byte;
}

/* Replaces the fed text by a new one. */
static void replace_copy(pai__yaml_source *s, char *copy, size_t size,
                         size_t len)
{
  pai__free(s->alloc, s->copy, s->copy_size);
  s->copy = copy;
  s->copy_size = size;
  s->fed = copy;
  s->len = len;
  s->at_char = s->at_byte = 0;
}

/* Writes the replacement of a change.  Returns the length of the replaced
 * text. */
static size_t put_change(pai__yaml_source *s, const pai__yaml_change *c,
                         char **to)
{
  if (c->kind == PAI__CHANGE_SPACE || c->kind == PAI__CHANGE_COMMENT)
    *(*to)++ = c->kind == PAI__CHANGE_SPACE ? ' ' : '#';
  if (c->kind == PAI__CHANGE_STAND_IN) {
    memcpy(*to, s->stand_in, STAND_IN - 1);
    (*to)[STAND_IN - 1] = (char)(0x80 + odd_index('\t'));
    *to += STAND_IN;
    s->bytes = false;
  }
  return c->n;
}

int pai__yaml_rewrite(pai__yaml_source *s, const pai__yaml_change *changes,
                      size_t n)
{
  size_t size = s->len + n * STAND_IN + 1;
  char *copy = pai__realloc(s->alloc, NULL, 0, size, 1), *to = copy;
  pai__yaml_source old = *s; /* for its copy and edits */
  size_t done = 0, edit = 0;
  int rc = copy != NULL ? PAI_OK : PAI_ENOMEM;

  s->edits = NULL;
  s->nedits = s->edit_cap = 0;
  for (size_t i = 0; i <= n && rc == PAI_OK; i++) {
    size_t at = i < n ? changes[i].at : old.len;

    for (; edit < old.nedits && old.edits[edit].fed <= at && rc == PAI_OK;
         edit++)
      if (old.edits[edit].fed >= done)
        rc = add_edit(s, (size_t)(to - copy) + old.edits[edit].fed - done,
                      old.edits[edit].text);
    memcpy(to, old.fed + done, at - done);
    to += at - done;
    done = at;
    if (i == n || rc < 0)
      continue;
    done += put_change(s, &changes[i], &to);
    if (changes[i].kind == PAI__CHANGE_DROP ||
        changes[i].kind == PAI__CHANGE_STAND_IN)
      rc = add_edit(s, (size_t)(to - copy), pai__yaml_text_byte(&old, done));
  }
  pai__free(s->alloc, old.edits, old.edit_cap * sizeof(*old.edits));
  if (rc < 0)
    pai__free(s->alloc, copy, size);
  else
    replace_copy(s, copy, size, (size_t)(to - copy));
  return rc;
}

/* --- reading the text --------------------------------------------------- */

static int fail_char(const pai__tree *t, size_t at, uint32_t c,
                     pai_error **err)
{
  (void)pai__fail_at(err, PAI_EINVAL, pai__tree_pos(t, at),
                     "character U+%04X is not allowed in YAML", (unsigned)c);
  pai__error_help(err,
                  "inside double quotes it can be written as "
                  "\\x%02X",
                  (unsigned)c);
  return PAI_EINVAL;
}

/* Checks the text from `at` on, which is not plain ASCII, and counts its odd
 * characters. */
static int check(pai__yaml_source *s, const char *text, size_t at, size_t end,
                 size_t *odd, pai_error **err)
{
  while (at < end) {
    unsigned char c = (unsigned char)text[at];
    size_t n = 1;

    if (c >= 0x7f) {
      n = pai__utf8_len(text + at, end - at);
      if (n == 0)
        return pai__fail_at(err, PAI_EINVAL, pai__tree_pos(s->tree, at),
                            "byte 0x%02x is not UTF-8", c);
      *odd += odd_index(pai__utf8_get(text + at, n)) >= 0;
    } else if (c < ' ' && c != '\t' && c != '\n' && c != '\r') {
      return fail_char(s->tree, at, c, err);
    }
    at += n;
  }
  return PAI_OK;
}

/* A stand-in is one of 64 private-use characters that share their first three
 * bytes.  No character of the text may begin with these.  Only a few are
 * tried. */
bool pai__yaml_choose_stand_in(pai__yaml_source *s)
{
  const char *text = s->tree->text;

  if (s->stand_in[0] != '\0')
    return true;
  if (strstr(text, "\\U") != NULL)
    return false; /* an escape could produce any character */
  for (int i = 0; i < 8; i++) {
    s->stand_in[0] = '\xf3';
    s->stand_in[1] = '\xb0';
    s->stand_in[2] = (char)(0x80 + i);
    s->stand_in[3] = '\0';
    if (strstr(text, s->stand_in) == NULL)
      return true;
  }
  s->stand_in[0] = '\0';
  return false;
}

/* Copies the text with stand-ins for odd characters. */
static int stand_in(pai__yaml_source *s, size_t from, size_t odd)
{
  const char *text = s->tree->text;
  size_t size = s->len + odd * 3 + 1;
  char *copy = pai__realloc(s->alloc, NULL, 0, size, 1), *to = copy;
  int rc = copy != NULL ? PAI_OK : PAI_ENOMEM;

  for (size_t at = from; at < s->tree->len && rc == PAI_OK;) {
    size_t n = pai__utf8_len(text + at, s->tree->len - at);
    int index =
      n == 1 && text[at] != 0x7f ? -1 : odd_index(pai__utf8_get(text + at, n));
    memcpy(to, index < 0 ? text + at : s->stand_in, index < 0 ? n : 3);
    to += index < 0 ? n : 3;
    at += n;
    if (index < 0)
      continue;
    *to++ = (char)(0x80 + index);
    rc = add_edit(s, (size_t)(to - copy), at);
  }
  if (rc < 0)
    pai__free(s->alloc, copy, size);
  else
    replace_copy(s, copy, size, (size_t)(to - copy));
  return rc;
}

/* Returns whether eight bytes are all from ' ' to '~'. */
static bool plain_bytes(const char *p)
{
  uint64_t w;

  memcpy(&w, p, sizeof(w));
  return ((w | (w - 0x2020202020202020u) | (w + 0x0101010101010101u)) &
          0x8080808080808080u) == 0;
}

/* Returns the first byte from `at` on that is neither plain ASCII nor a line
 * feed. */
static size_t skip_plain(const pai__tree *t, size_t at)
{
  for (;;) {
    while (t->len - at >= 8 && plain_bytes(t->text + at))
      at += 8;
    while (t->text[at] >= ' ' && t->text[at] < 0x7f)
      at++;
    if (t->text[at] != '\n')
      return at;
    at++;
  }
}

int pai__yaml_source_init(pai__yaml_source *s, const pai__tree *tree,
                          pai_error **err)
{
  const char *text = tree->text;
  size_t from = 0, at, odd = 0;
  int rc;

  if (tree->len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
    from = 3;
  *s = (pai__yaml_source){ .tree = tree, .alloc = &tree->alloc };
  s->fed = text + from;
  s->len = tree->len - from;
  at = skip_plain(tree, from);
  s->bytes = at == tree->len;
  rc = s->bytes ? PAI_OK : check(s, text, at, tree->len, &odd, err);
  if (rc < 0)
    return rc;
  if (from != 0 && add_edit(s, 0, from) < 0)
    goto no_memory;
  if (odd != 0 && pai__yaml_choose_stand_in(s) && stand_in(s, from, odd) < 0)
    goto no_memory;
  return PAI_OK;

no_memory:
  pai__yaml_source_dispose(s);
  return pai__oom(err);
}

int pai__yaml_give(void *data, unsigned char *buffer, size_t size,
                   size_t *size_read)
{
  pai__yaml_source *s = data;
  bool ended =
    s->len == 0 || s->fed[s->len - 1] == '\n' || s->fed[s->len - 1] == '\r';
  size_t n;

  if (s->read < s->len) {
    n = s->len - s->read < size ? s->len - s->read : size;
    memcpy(buffer, s->fed + s->read, n);
    s->read += n;
  } else {
    n = s->read == s->len && !ended;
    s->read = s->len + 1;
    buffer[0] = '\n';
  }
  *size_read = n;
  return 1;
}

void pai__yaml_feed(pai__yaml_source *s, yaml_parser_t *parser)
{
  s->read = 0;
  yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input(parser, pai__yaml_give, s);
}

void pai__yaml_source_dispose(pai__yaml_source *s)
{
  pai__free(s->alloc, s->copy, s->copy_size);
  pai__free(s->alloc, s->edits, s->edit_cap * sizeof(*s->edits));
  *s = (pai__yaml_source){ .alloc = s->alloc };
}
