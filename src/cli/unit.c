/* unit.c - the text of a systemd unit that runs the platform */
#include "unit.h"

#include <string.h>

#define MARK \
  "# Made by openpai up --enable; openpai down --disable removes it."

/* As systemd reads a word: % and $ begin what is replaced. */
static void write_word(FILE *out, const char *word)
{
  (void)fputc('"', out);
  for (; *word != '\0'; word++) {
    if (*word == '"' || *word == '\\')
      (void)fputc('\\', out);
    if (*word == '%' || *word == '$')
      (void)fputc(*word, out);
    (void)fputc(*word, out);
  }
  (void)fputc('"', out);
}

void cli_unit_write(FILE *out, const cli_unit *u)
{
  (void)fprintf(out,
                MARK "\n"
                     "[Unit]\n"
                     "Description=OpenPAI %s\n"
                     "Documentation=man:openpai(1)\n"
                     "\n"
                     "[Service]\n"
                     "Type=exec\n"
                     "ExecStart=",
                u->system ? "for all users of this machine"
                          : "for one user of this machine");
  write_word(out, u->program);
  (void)fputs(" up --foreground --verbose", out);
  if (u->system)
    (void)fputs(" --system", out);
  if (u->root != NULL) {
    (void)fputs(" --root ", out);
    write_word(out, u->root);
  }
  if (u->runtime != NULL) {
    (void)fputs(" --runtime ", out);
    write_word(out, u->runtime);
  }
  if (u->policy != NULL) {
    (void)fputs(" --policy ", out);
    write_word(out, u->policy);
  }
  for (const char *const *word = u->more; *word != NULL; word++) {
    (void)fputc(' ', out);
    write_word(out, *word);
  }
  /* Tasks outlive it, and have groups of their own below its own. */
  (void)fputs("\nKillMode=process\nDelegate=yes\nRestart=on-failure\n", out);
  if (u->system && u->root == NULL)
    (void)fputs("StateDirectory=openpai\nStateDirectoryMode=0711\n"
                "RuntimeDirectory=openpai\nRuntimeDirectoryMode=0755\n",
                out);
  (void)fprintf(out, "\n[Install]\nWantedBy=%s.target\n",
                u->system ? "multi-user" : "default");
}

bool cli_unit_is_ours(const char *line)
{
  return strncmp(line, MARK, strlen(MARK)) == 0;
}
