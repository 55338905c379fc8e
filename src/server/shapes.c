/* shapes.c - what many answers hold */
#include "server/shapes.h"

static const pai__field error_fields[] = { PAI__MAY_HAVE(TEXT, "code"),
                                           PAI__HAS(TEXT, "message"),
                                           PAI__MAY_HAVE(TEXT, "help"),
                                           { 0 } };

const pai__shape pai__error_shape = { "Error", error_fields };

static const pai__field done_fields[] = { PAI__MAY_HAVE(WHOLE, "status"),
                                          PAI__HAS(TEXT, "message"),
                                          { 0 } };

static const pai__shape done = { "Done", done_fields };

const pai__result pai__done_result = { .kind = PAI__IS_OBJECT,
                                       .shape = &done };

const pai__result pai__text_result = { .type = "text/plain" };

const pai__result pai__no_result = { 0 };

/* --- who has logged in, however --- */

static const pai__field login_fields[] = { PAI__HAS(TEXT, "user"),
                                           PAI__HAS(TEXT, "token"),
                                           PAI__HAS(FLAG, "admin"),
                                           PAI__MAY_HAVE(FLAG, "hasGitHubPAT"),
                                           { 0 } };

static const pai__shape login = { "Login", login_fields };

const pai__result pai__login_result = { .kind = PAI__IS_OBJECT,
                                        .shape = &login };
