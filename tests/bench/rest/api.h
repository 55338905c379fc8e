/* api.h - a platform with a server, and who asks it as often as it answers */
#ifndef PAI_TESTS_BENCH_API_H
#define PAI_TESTS_BENCH_API_H

#include "bare.h"

#include "store/store.h"

#include <openpai/records.h>
#include <openpai/server.h>

#include <time.h>

/* --- the platform (api_box.c) --------------------------------------------------- */

typedef struct api_box {
  char root[BENCH_FOLDER], socket[BENCH_FOLDER + 8];
  pai_loop *loop;
  pai_platform *platform;
  pai_server *server;
  int ended;   /* jobs */
  int running; /* the last that began */
  int cpus;    /* of this machine: a job of all of them lets no other start */
  double seconds;
  bool json;
} api_box;

extern api_box api;

/* With so many jobs that are over in its database, as put_job makes them, or
 * none of them.  Negative on failure. */
int api_open(size_t jobs,
             int (*put_job)(pai__batch *batch, uint64_t id, void *data),
             void *data);
/* First it stops its jobs from `first` on, or none: 0. */
void api_close(int first);
/* A job; its id. */
int api_submit(const char *name, int cpus, const char *command);
/* Its file as YAML: name, CPUs, command. */
#define API_JOB                                                          \
  "{protocolVersion: 2, name: %s, type: job, prerequisites: "            \
  "[{name: x, type: dockerimage, uri: x}], taskRoles: {a: {dockerImage:" \
  " x, resourcePerInstance: {cpu: %d, memoryMB: 64, gpu: 0}, commands: " \
  "[\"%s\"]}}}"

/* --- who asks (api_ask.c, api_load.c) --------------------------------------------- */

/* Writes request number `n`; its length. */
typedef size_t (*api_request)(char *to, size_t size, long n);

/* Asks a UNIX socket for so many seconds, over so many connections that each
 * wait for an answer before they ask again: answers a second, or -1. */
double api_load(const char *path, int connections, double seconds,
                api_request request);
/* The same by another process, while the loop runs. */
double api_ask(pai_loop *loop, const char *path, int connections,
               api_request request);
/* The same of bare libmicrohttpd, which answers so many bytes unseen. */
double api_ask_bare(int status, size_t len, int connections,
                    api_request request);

/* Both sides in turn; prints the ratio in the middle. */
int api_compare(const char *name, int connections, int status, size_t len,
                api_request request, double goal);

/* --- what is measured: negative on failure ------------------------------------------ */

int api_rates(void);    /* api_rate.c: a few jobs */
int api_pages(void);    /* api_pages.c: lists of 100,000 jobs, and memory */
int api_express(void);  /* likewise, against another server that runs */
int api_submits(void);  /* api_submits.c: jobs that become durable */
int api_follow(void);   /* api_follow.c: a log with 1,000 readers */
int api_worst(void);    /* api_worst.c: requests that are made to take long, */
int api_extender(void); /* and those of HiveD's extender */

/* --- requests that are made to take long (api_worst_rows.c, api_extender.c) --------- */

/* A body with `unit` as often as it fits between both; "%ld" in it is a number of
 * its own.  With type API_TAR units are names of files.  A path that ends with
 * "?" has as many names behind it as a head has room for, one that ends with "/"
 * as many parts; with size 0 `unit` is a header that is there many times. */
typedef struct api_worst_row {
  const char *name, *method, *path, *type;
  size_t size;
  const char *before, *unit, *after;
} api_worst_row;

#define API_TAR "application/tar"

extern const api_worst_row api_worst_rows[], api_extender_rows[];

/* An extender with a server at api.socket, and an API server for it. */
int api_extender_open(void);
void api_extender_close(void);

#endif
