/*
 * api.h - internal to the room: tables of REST calls and JSON records
 *
 * The files in api/schema declare every call (a route of the REST API) and
 * every record that a call takes or answers.  generate.py writes the tables
 * from them.  A body is JSON, a form, or JSON that is sent as text.  The
 * checker of bodies (server/fields.c) words its errors as OpenPAI's server
 * does (Joi 13).
 */
#ifndef PAI_SRC_API_API_H
#define PAI_SRC_API_API_H

#include "base/base.h"

enum pai__api_kind {
  PAI__END = 0, /* end of a table */
  PAI__IS_TEXT,
  PAI__IS_FLAG,
  PAI__IS_NUMBER,
  PAI__IS_WHOLE, /* a whole number */
  PAI__IS_OBJECT,
  PAI__IS_TEXTS, /* a list of texts */
  PAI__IS_ANY,
  PAI__KINDS_OF_BODIES,
  /* Only in answers: */
  PAI__IS_TIME = PAI__KINDS_OF_BODIES, /* in milliseconds since 1970 */
  PAI__IS_LIST,
  PAI__IS_MAP, /* an object with any member names */
  PAI__KINDS
};

enum {
  PAI__NEEDED = 1,
  PAI__NEEDED_WHOLE = 2, /* unless the body has "patch": true */
  PAI__MAY_BE_EMPTY = 4, /* a text; without this flag "" is refused */
  PAI__IS_MAIL = 8,
  PAI__MAY_BE_NULL = 16 /* in an answer */
};

/* The limit of numbers that have no other: the largest whole number that
 * JavaScript holds exactly. */
#define PAI__MOST_WHOLE ((INT64_C(1) << 53) - 1)

/* Which characters a text may have. */
typedef struct pai__api_pattern {
  bool (*has)(unsigned char c); /* whether a character is allowed */
  const char *regex;
  const char
    *wrong; /* the error for other characters; NULL: names the regex */
} pai__api_pattern;

extern const pai__api_pattern pai__user_pattern, pai__group_pattern,
  pai__no_comma_pattern;

/* --- rows of the database ----------------------------------------------- */

typedef struct pai__maybe {
  bool there;
  int64_t value;
} pai__maybe;

enum pai__column_kind {
  PAI__COLUMN_END = 0,
  PAI__COLUMN_TEXT,   /* NULL is stored as NULL */
  PAI__COLUMN_WORD,   /* NULL is stored as "" */
  PAI__COLUMN_CLASS,  /* NULL is stored as an empty blob, which sorts behind
                         all texts */
  PAI__COLUMN_ID,     /* uint64_t */
  PAI__COLUMN_NUMBER, /* uint32_t */
  PAI__COLUMN_FLAG,
  PAI__COLUMN_TIME, /* 0 is stored as NULL */
  PAI__COLUMN_LAST, /* a time; 0 is stored as INT64_MAX, which sorts behind all
                       times */
  PAI__COLUMN_MAYBE,
  PAI__COLUMN_BYTES,
  /* Only in rows that no table has: */
  PAI__COLUMN_MILLI, /* uint64_t: thousandths, a decimal number in JSON */
  PAI__COLUMN_ROW    /* a row within: an object in JSON */
};

typedef struct pai__column {
  const char *column;
  enum pai__column_kind kind;
  size_t at;       /* offset in the row's struct */
  unsigned update; /* the statement that sets it; 0: the one that sets all */
} pai__column;

/* --- records ------------------------------------------------------------ */

/* A member of a record, or a parameter of a query. */
typedef struct pai__api_field {
  const char *name;
  enum pai__api_kind kind;
  unsigned flags;
  int64_t least, most; /* length of a text, or value of a number; both 0:
                          any */
  const pai__api_pattern *pattern;
  const char *missing;        /* default, as JSON; NULL: none */
  const char *const *choices; /* allowed texts, ended by NULL; or NULL */
  const char *with;           /* the member that makes this one required */
  const char *not_below;      /* the member that is this one's lower bound */
  const struct pai__api_field *fields;  /* members of an object in a body;
                                           NULL: any */
  const struct pai__api_record *record; /* in an answer: the record of the
                                           value or of each item */
  const char *what;                     /* description */
  /* The member of the row that has the value.  If `from` is 0, the value is
   * computed; `id` is then the field's number in its declaration
   * (PAI__RECORD_field). */
  enum pai__column_kind from;
  size_t at;
  unsigned id;
} pai__api_field;

/* A JSON object, with its name in the API document. */
typedef struct pai__api_record {
  const char *name;
  const pai__api_field *fields; /* ended by PAI__END */
} pai__api_record;

/* What a successful call answers: JSON of a kind, or a text. */
typedef struct pai__api_answer {
  const char *type;              /* media type; NULL: JSON */
  enum pai__api_kind kind;       /* kind of JSON; 0: no body */
  const pai__api_record *record; /* the record of the value or of each item;
                                    NULL: any */
  const struct pai__api_answer *other; /* an alternative answer, or NULL */
  const char *header, *header_what;    /* a header with a whole number; NULL:
                                          none */
} pai__api_answer;

/* Who may make a call. */
enum pai__api_right {
  PAI__OF_ALL = 1,     /* everybody */
  PAI__OF_USERS,       /* users; the handler checks what the user owns */
  PAI__OF_PERSONS,     /* users, but no application token */
  PAI__OF_READERS,     /* users who may see the job in the path */
  PAI__OF_OWNER,       /* the owner of the job in the path */
  PAI__OF_OWNER_ALONE, /* the owner, but no administrator in the owner's
                          place */
  PAI__OF_ADMIN,
  PAI__OF_ADMIN_PERSONS, /* administrators, but no application token */
  PAI__OF_ALERT_SENDERS, /* administrators, also with a token for alerts only */
  PAI__RIGHTS
};

/* Login modes in which a route exists. */
enum pai__api_mode { PAI__WITH_ANY = 0, PAI__WITH_PASSWORDS, PAI__WITH_OIDC };

enum { /* largest bodies, in bytes */
       PAI__MOST_JOB = 4 << 20,
       PAI__MOST_JSON = 100 << 10,
       PAI__MOST_MARKET_BODY = 512 << 10,
       PAI__MOST_CODE = 1 << 30
};

struct pai__request; /* of the server */

/* A call.  Members that are not given are 0. */
typedef struct pai__api_route {
  const char *name;   /* "jobs.list" */
  const char *method; /* NULL: any; a HEAD request is answered as GET */
  const char *path;   /* ":name" stands for one part, "*name" for the rest;
                         other paths of the same call follow after a space */
  enum pai__api_right right;
  enum pai__api_mode mode;
  size_t most_body;            /* 0: PAI__MOST_JSON */
  const pai__api_record *body; /* checked before the handler runs; NULL: no
                                  body, or the handler checks it */
  /* Parameters of the query; NULL: none.  Numbers are checked before the
   * handler runs. */
  const pai__api_field *queries;
  int status;     /* status on success; 0: 200 */
  bool is_signed; /* a signed token in the query is enough
                     (server/streams/signed.c) */
  bool resumes;   /* its stream resumes after a Last-Event-ID */
  bool packs;     /* its answer may be compressed, as it has no secrets */
  bool noted;     /* in the audit log although it changes nothing */
  bool acts;    /* on a platform that serves all users of a machine, it acts as
                   the caller's user of that machine */
  bool submits; /* a GET that needs a token with the scope "submit" */
  bool streams; /* its answer has no end of its own */
  bool no_store; /* its answer has tokens, keys or personal data: clients must
                    not store it */
  bool counted;  /* it costs as much as a list, so each user's calls of it are
                    limited; of a stream those with ?states */
  const char *content; /* media type of a body that is not a record; NULL:
                          none */
  const pai__api_answer *result; /* answer on success; NULL: a message */
  const char *summary;
  const char *errors; /* "404 NoJobError, 409 ConflictJobError": errors besides
                         those of its right and its fields */
  /* Set by the server.  `handle` answers; `take` gets the next piece of the
   * body, or is NULL: pai__request_keep(). */
  void (*handle)(struct pai__request *r);
  void (*take)(struct pai__request *r, const char *bytes, size_t len);
} pai__api_route;

#endif
