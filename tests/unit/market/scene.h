/* scene.h - a marketplace over the accounts of account/host.h, for tests */
#ifndef PAI_TESTS_MARKET_SCENE_H
#define PAI_TESTS_MARKET_SCENE_H

#include "account/host.h"

#include "market/inside.h"

#define JOB_FILE                                                             \
  "protocolVersion: 2\\nname: x\\ntype: job\\nprerequisites: [{name: i, "    \
  "type: dockerimage, uri: i}]\\ntaskRoles: {w: {dockerImage: i, "           \
  "resourcePerInstance: {cpu: 1, memoryMB: 1, gpu: 0}, commands: [\\\"x\\\"" \
  "]}}\\n"
#define ITEM(more) "{\"name\":\"train\",\"protocol\":\"" JOB_FILE "\"" more "}"

extern pai_market *market;
extern char last_id[PAI_MARKET_ID]; /* of what was created last */

/* With the users ada, bob (both of group team), eve and admin. */
int market_set_up(void **state);
int market_tear_down(void **state);
int market_open(const pai_alloc *alloc, pai_error **err);
/* Commits, and opens everything from the database. */
void market_reopen(void);

/* Calls as a user; their result is for expect(). */
int put_item(const char *user, const char *id, const char *json);
int remove_item(const char *user, const char *id);
int star(const char *user, const char *id, int on);
int use(const char *user, const char *id);
int put_label(const char *user, int kind, const char *id, const char *json);
int remove_label(const char *user, int kind, const char *id);
int set_label(const char *user, const char *item, int kind, const char *id,
              int on);
/* What is written, or "" after a failure. */
const char *show_item(const char *user, const char *id);
const char *list_items(const char *user, const pai_market_query *query);
const char *show_labels(const char *user, int kind, const char *id,
                        const char *item);

#endif
