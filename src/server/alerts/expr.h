/*
 * expr.h - internal to the room: expressions of alert rules, a subset of
 * Prometheus' query language
 *
 * Pure: the caller gives samples and times.
 */
#ifndef PAI_SRC_SERVER_ALERTS_EXPR_H
#define PAI_SRC_SERVER_ALERTS_EXPR_H

#include "base/map.h"
#include "server/alerts/label.h"

/* A value with its labels; labels are sorted by name. */
typedef struct pai__alert_sample {
  const char *name; /* of the metric; NULL for a result */
  pai__alert_labels labels;
  double value;
} pai__alert_sample;

/* The samples of one moment; texts are in the arena. */
typedef struct pai__alert_samples {
  pai__arena arena;
  pai__alert_sample *at;
  size_t n, cap;
} pai__alert_samples;

enum {
  PAI__EXPR_LENGTH = 2000,   /* bytes of an expression */
  PAI__EXPR_DEPTH = 32,      /* of nested parts */
  PAI__EXPR_RESULTS = 20000, /* values of a result */
  PAI__EXPR_SERIES = 2000,   /* series kept for a window */
  PAI__EXPR_POINTS = 64      /* values kept of a series */
};

/* samples.c */
void pai__alert_samples_init(pai__alert_samples *s, const pai_alloc *alloc);
void pai__alert_samples_dispose(pai__alert_samples *s);
/* Adds a sample; sorts and copies the labels.  PAI_OK or PAI_ENOMEM. */
int pai__alert_samples_add(pai__alert_samples *s, const char *name,
                           const pai__alert_label *labels, size_t n,
                           double value);
/* Adds the samples of a text in Prometheus' format whose names are in
 * `wanted`.  Lines that are none are skipped. */
int pai__alert_samples_read(pai__alert_samples *s, char *text,
                            const pai__map *wanted);
/* Returns whether there is a sample of that name. */
bool pai__alert_samples_has(const pai__alert_samples *s, const char *name);

typedef struct pai__alert_expr pai__alert_expr;

/* Parses an expression, which may end with "for 5m".  Errors have line and
 * column in the text.  PAI_EINVAL; PAI_ELIMIT; PAI_ENOMEM. */
int pai__alert_expr_parse(pai__alert_expr **out, const pai_alloc *alloc,
                          const char *text, size_t len, pai_error **err);
void pai__alert_expr_free(pai__alert_expr *e); /* NULL is allowed */
/* Returns the time of "for", or 0. */
pai_time pai__alert_expr_wait(const pai__alert_expr *e);
/* Returns name I of a metric in the expression, or NULL. */
const char *pai__alert_expr_metric(const pai__alert_expr *e, size_t i);
/* Returns whether a part is such as rate(x[5m]). */
bool pai__alert_expr_has_window(const pai__alert_expr *e);
/* Parses a duration such as 30s, 5m, 1h30m or 2d; returns 0 if it is none. */
pai_time pai__alert_duration(const char *text, size_t len);

/* Keeps values for parts such as rate(x[5m]).  PAI_OK or PAI_ENOMEM. */
int pai__alert_expr_remember(pai__alert_expr *e,
                             const pai__alert_samples *samples, pai_time now);

/* A result; values and labels are in the arena. */
typedef struct pai__alert_result {
  pai__alert_sample *at;
  size_t n, cap;
} pai__alert_result;

/* Evaluates.  PAI_OK; PAI_ELIMIT: too many values; PAI_ENOMEM. */
int pai__alert_expr_eval(pai__alert_result *out, const pai__alert_expr *e,
                         const pai__alert_samples *samples, pai_time now,
                         pai__arena *arena);

/* --- inside the expression (expr_parse.c, expr_eval.c, expr_window.c) ----- */

enum pai__expr_kind {
  PAI__EXPR_NUMBER,
  PAI__EXPR_SELECT,  /* name{matchers} */
  PAI__EXPR_WINDOW,  /* function(name{matchers}[5m]) */
  PAI__EXPR_GROUP,   /* sum by (labels) (a) */
  PAI__EXPR_BINARY,  /* a op b */
  PAI__EXPR_NEGATIVE /* -a */
};

enum pai__expr_op {
  PAI__OP_OR,
  PAI__OP_AND,
  PAI__OP_UNLESS,
  PAI__OP_EQ,
  PAI__OP_NE,
  PAI__OP_LE,
  PAI__OP_GE,
  PAI__OP_LT,
  PAI__OP_GT,
  PAI__OP_ADD,
  PAI__OP_SUB,
  PAI__OP_MUL,
  PAI__OP_DIV
};

enum pai__expr_how {
  PAI__HOW_SUM,
  PAI__HOW_AVG,
  PAI__HOW_MIN,
  PAI__HOW_MAX,
  PAI__HOW_COUNT,
  PAI__HOW_RATE
};

/* A value at a time. */
typedef struct pai__expr_point {
  pai_time time;
  double value;
} pai__expr_point;

/* The latest values of one series, oldest first. */
typedef struct pai__expr_series {
  pai__arena arena; /* owns the labels */
  pai__alert_labels labels;
  pai__expr_point points[PAI__EXPR_POINTS];
  size_t n;
} pai__expr_series;

typedef struct pai__expr_node pai__expr_node;
struct pai__expr_node {
  enum pai__expr_kind kind;
  enum pai__expr_op op;
  enum pai__expr_how how;
  double number;
  const char *metric;
  pai__alert_matchers matchers;
  pai_time window;
  pai__map series;          /* of PAI__EXPR_WINDOW, by labels */
  bool some;                /* `labels` are given */
  pai__alert_labels labels; /* of "by" and "on"; values are NULL */
  pai__expr_node *a, *b;
  pai__expr_node *next; /* all nodes, latest first */
  bool is_number;       /* the result is a number */
};

struct pai__alert_expr {
  pai_alloc alloc;
  pai__arena arena; /* of nodes */
  pai__expr_node *root, *nodes;
  pai_time wait;
};

/* expr_window.c: adds the values of a window's series.  THE function that
 * reads older values. */
int pai__expr_window_read(pai__alert_result *out, const pai__expr_node *node,
                          pai_time now, pai__arena *arena);
void pai__expr_window_free(pai__expr_node *node, const pai_alloc *alloc);
/* Adds a value to a result. */
int pai__alert_result_add(pai__alert_result *out, pai__arena *arena,
                          pai__alert_labels labels, double value);

#endif
