/* plugin_commands.c - the plugins cmd, git and tensorboard, and linking of
 * storages */
#include "job/plan/plugin.h"

static const pai__tree *tree_of(const pai__plugin *p)
{
  return p->context->spec->tree;
}

/* --- cmd ----------------------------------------------------------------- */

/* Appends a list's commands as one eval, so a syntax error in it does not
 * affect the rest of the script. */
static void put_commands(pai__plugin_piece *piece, pai__buf *out,
                         const pai__plugin *p, pai__node list)
{
  pai__tree_walk walk;
  pai__node item;
  pai__buf text;

  if (list == PAI__NO_NODE ||
      pai__tree_type(tree_of(p), list) != PAI__SEQUENCE)
    return;
  pai__buf_init(&text, p->arena->alloc);
  walk = pai__tree_iter(tree_of(p), list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *command = pai__plugin_text(piece, p, item);

    if (command != NULL)
      pai__buf_printf(&text, "%s\n", command);
  }
  if (text.len > 0) {
    pai__buf_str(out, "eval ");
    pai__put_word(out, pai__buf_text(&text));
    pai__buf_char(out, '\n');
  }
  piece->failed |= !pai__buf_ok(&text);
  pai__buf_dispose(&text);
}

static void put_callback(pai__plugin_piece *out, const pai__plugin *p,
                         pai__node item)
{
  const pai__tree *t = tree_of(p);
  pai__node event = pai__tree_get(t, item, "event");
  pai__node commands = pai__tree_get(t, item, "commands");
  const char *name;

  if (event == PAI__NO_NODE || pai__tree_type(t, event) != PAI__STRING)
    return;
  name = pai__tree_str(t, event, NULL);
  if (strcmp(name, "taskStarts") == 0)
    put_commands(out, &out->before, p, commands);
  else if (strcmp(name, "taskSucceeds") == 0)
    put_commands(out, &out->after, p, commands);
}

void pai__plugin_cmd(pai__plugin_piece *out, const pai__plugin *p)
{
  pai__node before = pai__plugin_get(p, "preCommands");
  pai__node after = pai__plugin_get(p, "postCommands");
  pai__node list = pai__plugin_get(p, "callbacks"), item;
  pai__tree_walk walk;

  if (list == PAI__NO_NODE) {
    put_commands(out, &out->before, p, before);
    put_commands(out, &out->after, p, after);
    return;
  }
  if (before != PAI__NO_NODE || after != PAI__NO_NODE) {
    pai__plugin_refuse(
      out,
      "cmd: callbacks and preCommands or postCommands exclude each other");
    return;
  }
  if (pai__tree_type(tree_of(p), list) != PAI__SEQUENCE)
    return;
  walk = pai__tree_iter(tree_of(p), list);
  while ((item = pai__tree_next(&walk)) != PAI__NO_NODE)
    put_callback(out, p, item);
}

/* --- git ----------------------------------------------------------------- */

/*
 * pai__git URI FOLDER OPTION...
 *
 * Tasks of a job on one machine share the folder: the first one clones, the
 * others use the clone of this attempt.  A clone of an earlier attempt is
 * removed.  A clone is complete or missing.
 */
static const char git_script[] =
  "pai__git() {\n"
  "  local uri=$1 dir=$2 try=1 pause=${PAI_GIT_PAUSE:-1} mark\n"
  "  shift 2\n"
  "  mark=\"$FC_FRAMEWORK_UID $FC_FRAMEWORK_ATTEMPT_ID $uri\"\n"
  "  mkdir -p -- \"$(dirname -- \"$dir\")\"\n"
  "  exec 9>> \"$dir.openpai-lock\"\n"
  "  ! command -v flock > /dev/null || flock 9\n"
  "  if [ \"$(cat -- \"$dir/.git/openpai\" 2> /dev/null)\" = \"$mark\" ]; "
  "then\n"
  "    pai__log \"$uri is in $dir already\"\n"
  "    return\n"
  "  fi\n"
  "  case $(cat -- \"$dir/.git/openpai\" 2> /dev/null) in\n"
  "  \"$FC_FRAMEWORK_UID \"*) rm -rf -- \"$dir\" ;;\n"
  "  esac\n"
  "  if [ -n \"$(ls -A -- \"$dir\" 2> /dev/null)\" ] ||\n"
  "    { [ -e \"$dir\" ] && [ ! -d \"$dir\" ]; }; then\n"
  "    pai__fail 1 \"git: $dir is there, and is no empty folder\"\n"
  "  fi\n"
  "  until GIT_TERMINAL_PROMPT=0 git clone \"$@\" -- \"$uri\" "
  "\"$dir.openpai-new\" 2>&1; do\n"
  "    rm -rf -- \"$dir.openpai-new\"\n"
  "    if [ $try -ge 10 ]; then\n"
  "      pai__fail 1 \"git: $uri could not be cloned in $try tries\"\n"
  "    fi\n"
  "    pai__log \"git: $uri could not be cloned, trying again\"\n"
  "    sleep \"$pause\"\n"
  "    try=$((try + 1)) pause=$((pause * 2 < 300 ? pause * 2 : 300))\n"
  "  done\n"
  "  printf '%s\\n' \"$mark\" > \"$dir.openpai-new/.git/openpai\"\n"
  "  [ ! -d \"$dir\" ] || rmdir -- \"$dir\"\n"
  "  mv -- \"$dir.openpai-new\" \"$dir\"\n"
  "  pai__log \"$uri is in $dir\"\n"
  "}\n";

void pai__plugin_git(pai__plugin_piece *out, const pai__plugin *p)
{
  pai__node list = pai__plugin_get(p, "options"), item;
  const char *uri = pai__plugin_text(out, p, pai__plugin_get(p, "repo_uri"));
  const char *dir = pai__plugin_text(out, p, pai__plugin_get(p, "clone_dir"));
  pai__tree_walk walk;

  if (uri == NULL) {
    pai__plugin_refuse(out, "git: repo_uri is missing");
    return;
  }
  pai__buf_str(&out->before, git_script);
  pai__buf_str(&out->before, "pai__git ");
  pai__put_word(&out->before, uri);
  pai__buf_char(&out->before, ' ');
  if (dir != NULL && *dir != '\0')
    pai__put_word(&out->before, dir);
  else
    pai__buf_str(&out->before, "\"$pai__dir/code\"");
  if (list != PAI__NO_NODE &&
      pai__tree_type(tree_of(p), list) == PAI__SEQUENCE) {
    walk = pai__tree_iter(tree_of(p), list);
    while ((item = pai__tree_next(&walk)) != PAI__NO_NODE) {
      const char *option = pai__plugin_text(out, p, item);

      if (option == NULL)
        continue;
      pai__buf_char(&out->before, ' ');
      pai__put_word(&out->before, option);
    }
  }
  pai__buf_char(&out->before, '\n');
}

/* --- tensorboard --------------------------------------------------------- */

/* pai__tensorboard PORT NAME FOLDER... */
static const char board_script[] =
  "pai__tensorboard() {\n"
  "  local port=$1 list= several=$(( $# > 3 )) first=$3 version\n"
  "  shift\n"
  "  if ! command -v tensorboard > /dev/null; then\n"
  "    pai__fail 1 'tensorboard is not installed here: pip install "
  "tensorboard'\n"
  "  fi\n"
  "  while [ $# -gt 0 ]; do\n"
  "    list=\"$list${list:+,}$1:$2\"\n"
  "    shift 2\n"
  "  done\n"
  "  version=$(tensorboard --version 2> /dev/null | tail -n 1)\n"
  "  case $version in\n"
  "  1.*) set -- --logdir=\"$list\" ;;\n"
  "  *) set -- --bind_all --logdir=\"$first\"\n"
  "    [ $several = 0 ] || set -- --bind_all --logdir_spec=\"$list\" ;;\n"
  "  esac\n"
  "  tensorboard --port=\"$port\" \"$@\" < /dev/null "
  "> \"$pai__dir/tensorboard.log\" 2>&1 &\n"
  "  pai__log \"tensorboard listens on port $port\"\n"
  "}\n";

static void put_logdirs(pai__plugin_piece *out, const pai__plugin *p,
                        pai__node dirs)
{
  pai__tree_walk walk = pai__tree_iter(tree_of(p), dirs);
  pai__node key;

  while ((key = pai__tree_next(&walk)) != PAI__NO_NODE) {
    const char *dir =
      pai__plugin_text(out, p, pai__tree_value(tree_of(p), key));

    if (dir == NULL)
      continue;
    pai__buf_char(&out->before, ' ');
    pai__put_word(&out->before, pai__tree_str(tree_of(p), key, NULL));
    pai__buf_char(&out->before, ' ');
    pai__put_word(&out->before, dir);
  }
}

void pai__plugin_tensorboard(pai__plugin_piece *out, const pai__plugin *p)
{
  pai__node port = pai__plugin_get(p, "port");
  pai__node dirs = pai__plugin_get(p, "logdir");
  const pai__tree *t = tree_of(p);
  int64_t number;

  if (p->role != p->context->spec->roles)
    return; /* only for the job's first task */
  if (port == PAI__NO_NODE || !pai__tree_whole(t, port, &number) ||
      number < 1 || number > 65535 || dirs == PAI__NO_NODE ||
      pai__tree_type(t, dirs) != PAI__MAPPING ||
      pai__tree_count(t, dirs) == 0) {
    pai__plugin_refuse(out, "tensorboard: set port, and folders in logdir");
    return;
  }
  pai__buf_str(&out->before, "if [ \"$PAI_TASK_INDEX\" = 0 ]; then\n");
  pai__buf_str(&out->before, board_script);
  pai__buf_printf(&out->before, "pai__tensorboard %lld", (long long)number);
  put_logdirs(out, p, dirs);
  pai__buf_str(&out->before, "\nfi\n");
}

/* --- storages ------------------------------------------------------------ */

/* pai__storage SOURCE TARGET: nothing to do if a sandbox or a container has
 * mounted it. */
static const char storage_script[] =
  "pai__storage() {\n"
  "  if [ \"$1\" -ef \"$2\" ]; then\n"
  "    return\n"
  "  elif [ -e \"$2\" ] || [ -L \"$2\" ]; then\n"
  "    pai__log \"storage $1 is not at $2: something else is there\"\n"
  "  elif ! mkdir -p -- \"$1\" 2> /dev/null && [ ! -e \"$1\" ]; then\n"
  "    pai__log \"there is no storage at $1\"\n"
  "  elif ! mkdir -p -- \"$(dirname -- \"$2\")\" 2> /dev/null ||\n"
  "    ! ln -s -- \"$1\" \"$2\" 2> /dev/null; then\n"
  "    [ \"$1\" -ef \"$2\" ] ||\n"
  "      pai__log \"storage $1 cannot be put at $2: no sandbox, no right\"\n"
  "  fi\n"
  "}\n";

void pai__plugin_storages(pai__plugin_piece *out,
                          const pai_launch_mount *mounts, size_t n)
{
  pai__buf_str(&out->before, storage_script);
  for (size_t i = 0; i < n; i++) {
    pai__buf_str(&out->before, "pai__storage ");
    pai__put_word(&out->before, mounts[i].source);
    pai__buf_char(&out->before, ' ');
    pai__put_word(&out->before, mounts[i].target);
    pai__buf_char(&out->before, '\n');
  }
}
