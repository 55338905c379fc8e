/*
 * posix_cert.c - the certificate of all TLS listeners, reloaded from its files
 *
 * Certificates are renewed while a server runs.  Their files are checked when
 * a client connects, at most once a second, and read again if they have
 * changed.  If the new files are invalid, that is logged, and the old
 * certificate stays in use.
 */
#include "server/http/listener.h"

#include <gnutls/abstract.h>
#include <sys/stat.h>

enum { LINKS = 16 /* in a chain */, OFTEN = 1000 * 1000 };

/* A loaded certificate and key.  A handshake may still use it after a
 * reload. */
typedef struct chain {
  struct chain *before;
  /* a replaced chain is freed then: no handshake takes that long */
  pai_time until;
  gnutls_pcert_st links[LINKS];
  unsigned nlinks;
  gnutls_privkey_t key;
} chain;

/* Metadata that tell whether a file has changed. */
typedef struct mark {
  dev_t device;
  ino_t inode;
  off_t size;
  struct timespec written, changed; /* mtime and ctime */
} mark;

struct pai__certs {
  pai_server *server;
  char *cert, *key; /* paths */
  mark cert_mark, key_mark;
  pai_time looked;
  bool again;      /* reading failed, but may succeed later */
  char *complaint; /* last message logged, until a reload succeeds; or NULL */
  chain *now;      /* current chain, then older ones */
};

/* GnuTLS's callback has no user data.  It is called while a listener runs, on
 * this thread. */
static _Thread_local const pai__certs *asked;

/* --- reading ------------------------------------------------------------- */

static void free_chain(const pai_alloc *alloc, chain *c)
{
  for (unsigned i = 0; i < c->nlinks; i++)
    gnutls_pcert_deinit(&c->links[i]);
  if (c->key != NULL)
    gnutls_privkey_deinit(c->key);
  pai__free(alloc, c, sizeof(*c));
}

/* Checks that the key belongs to the first certificate. */
static int compare(const chain *c)
{
  unsigned char one[64], two[64];
  size_t len = sizeof(one), other = sizeof(two);
  gnutls_pubkey_t public_key;
  int rc = gnutls_pubkey_init(&public_key);

  if (rc < 0)
    return rc;
  rc = gnutls_pubkey_import_privkey(public_key, c->key, 0, 0);
  if (rc == 0)
    rc =
      gnutls_pubkey_get_key_id(public_key, GNUTLS_KEYID_USE_SHA256, one, &len);
  if (rc == 0)
    rc = gnutls_pubkey_get_key_id(c->links[0].pubkey, GNUTLS_KEYID_USE_SHA256,
                                  two, &other);
  if (rc == 0 && (len != other || memcmp(one, two, len) != 0))
    rc = GNUTLS_E_CERTIFICATE_KEY_MISMATCH;
  gnutls_pubkey_deinit(public_key);
  return rc;
}

static gnutls_datum_t datum(char *text)
{
  return (gnutls_datum_t){ (unsigned char *)text, (unsigned)strlen(text) };
}

static int import(chain *c, char *cert, char *key)
{
  gnutls_datum_t text = datum(cert);
  unsigned n = LINKS;
  int rc = gnutls_pcert_list_import_x509_raw(c->links, &n, &text,
                                             GNUTLS_X509_FMT_PEM, 0);

  if (rc < 0)
    return rc;
  c->nlinks = n;
  rc = gnutls_privkey_init(&c->key);
  text = datum(key);
  if (rc == 0)
    rc = gnutls_privkey_import_x509_raw(c->key, &text, GNUTLS_X509_FMT_PEM,
                                        NULL, 0);
  return rc < 0 ? rc : compare(c);
}

static int make_chain(chain **out, const pai_alloc *alloc, char *cert,
                      char *key, pai_error **err)
{
  chain *c = pai__zalloc(alloc, sizeof(*c));
  int rc = c != NULL ? import(c, cert, key) : GNUTLS_E_MEMORY_ERROR;

  *out = NULL;
  if (rc == 0) {
    *out = c;
    return PAI_OK;
  }
  if (c != NULL)
    free_chain(alloc, c);
  if (rc == GNUTLS_E_MEMORY_ERROR)
    return pai__oom(err);
  (void)pai__fail(err, PAI_EINVAL,
                  "the certificate and the key cannot be used for TLS: %s",
                  gnutls_strerror(rc));
  pai__error_help(err, "the key must have no password and must belong to the "
                       "first certificate in the file");
  return PAI_EINVAL;
}

static int read_chain(chain **out, const pai__certs *c, pai_error **err)
{
  const pai_alloc *alloc = &c->server->alloc;
  char *cert = NULL, *key = NULL;
  int rc = pai__tls_read(&cert, alloc, c->cert, "the certificate", err);

  *out = NULL;
  if (rc == PAI_OK)
    rc = pai__tls_read(&key, alloc, c->key, "the key", err);
  if (rc == PAI_OK)
    rc = make_chain(out, alloc, cert, key, err);
  if (key != NULL) /* erases the private key */
    memset(key, 0, strlen(key));
  pai__strfree(alloc, key);
  pai__strfree(alloc, cert);
  return rc;
}

/* --- reloading ----------------------------------------------------------- */

static bool is_same(const struct timespec *a, const struct timespec *b)
{
  return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Returns whether the file has changed.  The mtime can be set to any value, so
 * two files may have the same one; the ctime cannot be set. */
static bool look(mark *m, const char *path)
{
  mark was = *m;
  struct stat st;

  if (stat(path, &st) != 0)
    return false; /* it may be about to be created */
  *m = (mark){ st.st_dev, st.st_ino, st.st_size, st.st_mtim, st.st_ctim };
  return was.device != m->device || was.inode != m->inode ||
         was.size != m->size || !is_same(&was.written, &m->written) ||
         !is_same(&was.changed, &m->changed);
}

static bool has_changed(pai__certs *c)
{
  bool cert = look(&c->cert_mark, c->cert);

  return look(&c->key_mark, c->key) || cert;
}

static void forget_old(pai__certs *c, pai_time now)
{
  for (chain **at = &c->now->before; *at != NULL;)
    if ((*at)->until <= now) {
      chain *old = *at;
      *at = old->before;
      free_chain(&c->server->alloc, old);
    } else {
      at = &(*at)->before;
    }
}

static void replace(pai__certs *c, chain *fresh, pai_time now)
{
  const pai_server *s = c->server;

  c->now->until = now + 2 * (s->idle_timeout + s->request_timeout);
  fresh->before = c->now;
  c->now = fresh;
  pai__strfree(&s->alloc, c->complaint);
  c->complaint = NULL;
  pai__log_line(&s->log, PAI_LOG_INFO, "the certificate %s has been renewed",
                c->cert);
}

/* Logs a failure once, however often it repeats. */
static void complain(pai__certs *c, const pai_error *err)
{
  const pai_alloc *alloc = &c->server->alloc;
  const char *why = err != NULL ? pai_error_message(err) : "no memory";

  if (c->complaint != NULL && strcmp(c->complaint, why) == 0)
    return;
  pai__strfree(alloc, c->complaint);
  /* if out of memory, it is logged again */
  c->complaint = pai__strdup(alloc, why);
  pai__log_line(&c->server->log, PAI_LOG_WARNING,
                "the current certificate stays in use: %s", why);
}

void pai__certs_look(pai__certs *c)
{
  pai_time now = pai__loop_time();
  pai_error *err = NULL;
  chain *fresh = NULL;
  bool changed;
  int rc;

  if (c == NULL || now - c->looked < OFTEN)
    return;
  c->looked = now;
  forget_old(c, now);
  changed = has_changed(c);
  if (!changed && !c->again)
    return;
  rc = read_chain(&fresh, c, &err);
  /* Invalid files stay invalid until they change; other failures may pass. */
  c->again = rc < 0 && rc != PAI_EINVAL;
  if (rc == PAI_OK && fresh != NULL)
    replace(c, fresh, now);
  else
    complain(c, err);
  pai_error_free(err);
}

void pai__certs_ask(const pai__certs *c)
{
  asked = c;
}

int pai__certs_give(gnutls_session_t session, const gnutls_datum_t *names,
                    int nnames, const gnutls_pk_algorithm_t *kinds, int nkinds,
                    gnutls_pcert_st **links, unsigned *nlinks,
                    gnutls_privkey_t *key)
{
  (void)session;
  (void)names;
  (void)nnames;
  (void)kinds;
  (void)nkinds;
  if (asked == NULL)
    return -1;
  *links = asked->now->links;
  *nlinks = asked->now->nlinks;
  *key = asked->now->key;
  return 0;
}

/* --- life ---------------------------------------------------------------- */

int pai__certs_new(pai__certs **out, pai_server *server, const char *cert,
                   const char *key, pai_error **err)
{
  pai__certs *c = pai__zalloc(&server->alloc, sizeof(*c));

  *out = c;
  if (c == NULL)
    return pai__oom(err);
  c->server = server;
  c->cert = pai__strdup(&server->alloc, cert);
  c->key = pai__strdup(&server->alloc, key);
  if (c->cert == NULL || c->key == NULL)
    return pai__oom(err);
  (void)has_changed(c);
  return read_chain(&c->now, c, err);
}

void pai__certs_free(pai__certs *c)
{
  pai_alloc alloc;

  if (c == NULL)
    return;
  alloc = c->server->alloc;
  while (c->now != NULL) {
    chain *before = c->now->before;
    free_chain(&alloc, c->now);
    c->now = before;
  }
  pai__strfree(&alloc, c->complaint);
  pai__strfree(&alloc, c->cert);
  pai__strfree(&alloc, c->key);
  pai__free(&alloc, c, sizeof(*c));
}
