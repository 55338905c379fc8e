/*
 * slots.c - the file of a kind: a head, an entry for each slot, and the rings of
 * each slot
 *
 * A slot is the place of a subject.  The file is sparse: rings that were not
 * written take no space.
 */
#include "series/inside.h"

enum { HEAD = 4096, ENTRY = 256, VERSION = 1 };

typedef struct head {
  char magic[8];
  uint32_t order; /* numbers have the byte order of the machine */
  uint32_t version, count, slots, rows[PAI__SERIES_LEVELS];
} head;

typedef struct entry {
  int64_t since, last;
  char name[PAI__SERIES_NAME];
} entry;

static head head_of(const pai__series_form *form)
{
  head h = { .magic = "paiseri",
             .order = 0x01020304,
             .version = VERSION,
             .count = form->count,
             .slots = form->slots };

  memcpy(h.rows, form->rows, sizeof(h.rows));
  return h;
}

static uint64_t size_of_row(const pai__series_form *form)
{
  return sizeof(uint16_t) * (1 + (uint64_t)form->count);
}

uint64_t pai__series_ring_at(const pai__series_set *set,
                             const pai__series_subject *x, uint32_t level)
{
  const pai__series_form *form = set->form;
  uint64_t rows = 0, before = 0;

  for (uint32_t i = 0; i < PAI__SERIES_LEVELS; i++) {
    rows += form->rows[i];
    before += i < level ? form->rows[i] : 0;
  }
  return HEAD + (uint64_t)ENTRY * form->slots +
         (x->slot * rows + before) * size_of_row(form);
}

int pai__series_write_entry(const pai__series_set *set,
                            const pai__series_subject *x)
{
  entry e = { .since = x->since, .last = x->last };

  memcpy(e.name, x->name, strlen(x->name));
  return pai__series_file_write(&set->file, HEAD + (uint64_t)ENTRY * x->slot,
                                &e, sizeof(e));
}

/* --- subjects ------------------------------------------------------------- */

static void free_subject(const pai_alloc *alloc, pai__series_subject *x)
{
  if (x == NULL)
    return;
  pai__strfree(alloc, x->name);
  pai__free(alloc, x->rows, x->cap * sizeof(*x->rows));
  pai__free(alloc, x, sizeof(*x));
}

static pai__series_subject *make(pai__series_store *s, pai__series_set *set,
                                 const char *name)
{
  pai__series_subject *x = pai__zalloc(&s->alloc, sizeof(*x));

  if (x == NULL)
    return NULL;
  memset(x->values, 0xff, sizeof(x->values));
  x->name = pai__strdup(&s->alloc, name);
  if (x->name == NULL ||
      pai__map_set(&set->names, name, strlen(name), x) < 0) {
    free_subject(&s->alloc, x);
    return NULL;
  }
  return x;
}

/* Returns the subject that ended first, if it has ended: NULL otherwise. */
static pai__series_subject *find_ended(const pai__series_set *set, int64_t now)
{
  enum { ENDED = 120 };
  pai__series_subject *first = NULL;

  for (size_t i = 0; i < set->n; i++)
    if (set->list[i] == NULL)
      continue;
    else if (first == NULL || set->list[i]->last < first->last)
      first = set->list[i];
  return first != NULL && first->last < now - ENDED ? first : NULL;
}

/* Finds an empty slot, or empties one. */
static int find_slot(uint32_t *slot, pai__series_store *s,
                     pai__series_set *set, int64_t now)
{
  pai__series_subject *ended;
  size_t i = 0;

  while (i < set->n && set->list[i] != NULL)
    i++;
  *slot = (uint32_t)i;
  if (i < set->n)
    return PAI_OK;
  if (set->n < set->form->slots) {
    if (PAI__VEC_ROOM(&s->alloc, set->list, set->n, set->cap) < 0)
      return PAI_ENOMEM;
    set->list[set->n++] = NULL;
    return PAI_OK;
  }
  ended = find_ended(set, now);
  if (ended == NULL)
    return PAI_ELIMIT;
  *slot = ended->slot;
  set->list[*slot] = NULL;
  (void)pai__map_remove(&set->names, ended->name, strlen(ended->name));
  free_subject(&s->alloc, ended);
  return PAI_OK;
}

int pai__series_add(pai__series_subject **out, pai__series_store *s,
                    pai__series_set *set, const char *name, int64_t now)
{
  uint32_t slot;
  int rc = strlen(name) < PAI__SERIES_NAME ? PAI_OK : PAI_ELIMIT;

  *out = NULL;
  if (rc == PAI_OK)
    rc = find_slot(&slot, s, set, now);
  if (rc < 0)
    return rc;
  *out = make(s, set, name);
  if (*out == NULL)
    return PAI_ENOMEM;
  (*out)->slot = slot;
  (*out)->since = (*out)->last = now;
  (*out)->added = true;
  set->list[slot] = *out;
  return PAI_OK;
}

/* --- opening -------------------------------------------------------------- */

/* Adds the subject of an entry; one that makes no sense is an empty slot. */
static int load_entry(pai__series_store *s, pai__series_set *set,
                      const entry *e)
{
  bool valid = e->name[0] != '\0' && e->since > 0 && e->last >= e->since &&
               memchr(e->name, '\0', sizeof(e->name)) != NULL &&
               pai__map_get(&set->names, e->name, strlen(e->name)) == NULL;
  pai__series_subject *x = NULL;

  if (PAI__VEC_ROOM(&s->alloc, set->list, set->n, set->cap) < 0)
    return PAI_ENOMEM;
  if (valid)
    x = make(s, set, e->name);
  if (valid && x == NULL)
    return PAI_ENOMEM;
  if (x != NULL) {
    x->slot = (uint32_t)set->n;
    x->since = e->since;
    x->last = e->last;
  }
  set->list[set->n++] = x;
  return PAI_OK;
}

static int load_entries(pai__series_store *s, pai__series_set *set)
{
  enum { PIECE = 16 };
  char bytes[PIECE * ENTRY];
  int rc = PAI_OK;
  entry e;

  for (uint32_t i = 0; i < set->form->slots && rc == PAI_OK; i++) {
    if (i % PIECE == 0) {
      memset(bytes, 0, sizeof(bytes));
      pai__series_note(s, pai__series_file_read(&set->file,
                                                HEAD + (uint64_t)ENTRY * i,
                                                bytes, sizeof(bytes)));
    }
    memcpy(&e, bytes + (size_t)(i % PIECE) * ENTRY, sizeof(e));
    rc = load_entry(s, set, &e);
  }
  while (set->n > 0 && set->list[set->n - 1] == NULL)
    set->n--;
  return rc;
}

int pai__series_write_head(pai__series_set *set)
{
  const head wanted = head_of(set->form);
  int rc = set->headed
             ? PAI_OK
             : pai__series_file_write(&set->file, 0, &wanted, sizeof(wanted));

  set->headed = rc == PAI_OK;
  return rc;
}

int pai__series_load(pai__series_store *s, pai__series_set *set,
                     const char *folder)
{
  const head wanted = head_of(set->form), none = { .order = 0 };
  head found = none;
  int rc = pai__series_file_open(&set->file, folder, set->form->file, true);

  if (rc == PAI_OK)
    rc = pai__series_file_read(&set->file, 0, &found, sizeof(found));
  set->headed = rc == PAI_OK && memcmp(&found, &wanted, sizeof(found)) == 0;
  if (set->headed)
    return load_entries(s, set);
  if (rc == PAI_OK && memcmp(&found, &none, sizeof(found)) != 0) {
    pai__log_line(&s->log, PAI_LOG_WARNING,
                  "the time series \"%s\" are of another version, or damaged: "
                  "they begin anew",
                  set->form->file);
    rc = pai__series_file_empty(&set->file);
  }
  if (rc < 0)
    pai__series_file_close(&set->file);
  pai__series_note(s, rc);
  return PAI_OK;
}
