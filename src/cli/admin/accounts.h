/* accounts.h - users of tokens, and new passwords (cmd_accounts.c) */
#ifndef PAI_SRC_CLI_ACCOUNTS_H
#define PAI_SRC_CLI_ACCOUNTS_H

/* Returns the user that a token names, for free(), or NULL. */
char *cli_token_user(const char *token);
/* Reads a new password for a user from a file, or asks for it twice; for
 * free().  NULL after printing an error. */
char *cli_new_password(const char *user, const char *file);

#endif
