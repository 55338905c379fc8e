/*
 * plugin_ssh.c - the plugin ssh: makes each task reachable by ssh
 *
 * Each task runs a real sshd as its user, on the port that it was given.  With
 * jobssh all tasks of an attempt share a key that the first of them makes, and
 * `ssh ROLE-INDEX` connects any two.  The user's own ssh is not changed: the
 * task finds a wrapper before it in PATH.
 */
#include "job/plan/plugin.h"

#include "job/form.h"
#include "job/plan/names.h"

/*
 * pai__ssh_in_room: sets `room`, words before sshd. sshd as root changes its
 * user, which fails in a small user namespace, and refuses root if the account
 * is locked, as Ubuntu's is.  So it then gets one more user namespace, in
 * which the user's id is not 0.
 */
static const char room_script[] =
  "pai__ssh_is_alone() {\n"
  "  local own\n"
  "  [ \"$(cat /proc/self/setgroups 2> /dev/null)\" != deny ] || return 0\n"
  "  command -v setpriv > /dev/null && own=$(id -u sshd 2> /dev/null) ||\n"
  "    return 1\n"
  "  ! setpriv --reuid=\"$own\" --regid=\"$(id -g sshd)\" --clear-groups true "
  "\\\n"
  "    2> /dev/null\n"
  "}\n"
  "pai__ssh_in_room() {\n"
  "  local dir=$1 user id=64001 why='root of this user name space cannot "
  "become other users'\n"
  "  room=()\n"
  "  [ \"$(id -u)\" = 0 ] || return 0\n"
  "  user=$(id -un)\n"
  "  if ! pai__ssh_is_alone; then\n"
  "    case $(getent shadow \"$user\" 2> /dev/null | cut -d : -f 2) in\n"
  "    '!'*) why=\"sshd lets nobody in whose account is locked, as $user's "
  "is\" ;;\n"
  "    *) return 0 ;;\n"
  "    esac\n"
  "  fi\n"
  "  sed \"s/^$user:\\([^:]*\\):0:[0-9]*:/$user:\\1:$id:$id:/\" /etc/passwd "
  "> \"$dir/passwd\"\n"
  "  sed '/^tty:/d' /etc/group > \"$dir/group\"\n"
  "  room=(bwrap --dev-bind / / --unshare-user --uid $id --gid $id\n"
  "    --ro-bind \"$dir/passwd\" /etc/passwd\n"
  "    --ro-bind \"$dir/group\" /etc/group)\n"
  "  if [ -e /etc/shadow ]; then\n"
  "    printf '%s:*:20000:0:99999:7:::\\n' \"$user\" > \"$dir/shadow\"\n"
  "    room+=(--ro-bind \"$dir/shadow\" /etc/shadow)\n"
  "  fi\n"
  "  if ! \"${room[@]}\" true 2> /dev/null; then\n"
  "    pai__fail 1 \"sshd cannot run here: $why, and bubblewrap makes no "
  "other "
  "name space: start the platform as another user\"\n"
  "  fi\n"
  "  pai__log \"sshd has a user name space of its own: $why; $user is $id "
  "there\"\n"
  "}\n";

/*
 * pai__ssh_variables: prints the part of the task's environment for sessions,
 * as one line, because sshd uses only the first.  It has the GPUs and the
 * task's identity; its programs; and Open MPI's memory folder, whose default
 * name is made of host and rank, which two tasks may share.
 */
static const char variables_script[] =
  "pai__ssh_variables() {\n"
  "  local OMPI_MCA_btl_vader_backing_directory=\"$dir/shm\"\n"
  "  local OMPI_MCA_btl_sm_backing_directory=\"$dir/shm\"\n"
  "  local PATH=\"$dir/bin:$PATH\" name\n"
  "  printf SetEnv\n"
  "  for name in PATH LD_LIBRARY_PATH CUDA_VISIBLE_DEVICES "
  "NVIDIA_VISIBLE_DEVICES \\\n"
  "    PAI_JOB_NAME PAI_USER_NAME PAI_CURRENT_TASK_ROLE_NAME "
  "PAI_TASK_INDEX \\\n"
  "    PAI_CURRENT_TASK_ROLE_CURRENT_TASK_INDEX PAI_CURRENT_CONTAINER_IP "
  "\\\n"
  "    PAI_WORK_DIR OMPI_MCA_btl_vader_backing_directory \\\n"
  "    OMPI_MCA_btl_sm_backing_directory; do\n"
  "    case ${!name-} in *[$'\\n\"\\\\']* | '') continue ;; esac\n"
  "    printf ' %s=\"%s\"' \"$name\" \"${!name}\"\n"
  "  done\n"
  "}\n";

/* pai__ssh JOB KEYS HOSTS NAMES: JOB is 1 if tasks may reach each other. */
static const char server_script[] =
  "pai__ssh() {\n"
  "  local dir=\"$pai__dir/ssh\" sshd program wait=0 family=inet room\n"
  "  sshd=$(PATH=\"$PATH:/usr/sbin:/usr/local/sbin\" command -v sshd || :)\n"
  "  if [ -z \"$sshd\" ] || ! command -v ssh-keygen > /dev/null; then\n"
  "    pai__fail 1 'there is no sshd on this machine: install "
  "openssh-server'\n"
  "  fi\n"
  "  umask 077\n"
  "  mkdir -p \"$dir/bin\" \"$dir/shm\"\n"
  "  ssh-keygen -q -t ed25519 -N '' -C '' -f \"$dir/host_key\"\n"
  "  printf '%s' \"$2\" > \"$dir/authorized_keys\"\n"
  "  if [ \"$1\" = 1 ]; then\n"
  "    mkdir -p \"$pai__job/ssh\"\n"
  "    (\n"
  "      ! command -v flock > /dev/null || flock 9\n"
  "      [ -f \"$pai__job/ssh/key\" ] || {\n"
  "        rm -f \"$pai__job/ssh/new\" \"$pai__job/ssh/new.pub\"\n"
  "        ssh-keygen -q -t ed25519 -N '' -C openpai -f "
  "\"$pai__job/ssh/new\"\n"
  "        mv \"$pai__job/ssh/new.pub\" \"$pai__job/ssh/key.pub\"\n"
  "        mv \"$pai__job/ssh/new\" \"$pai__job/ssh/key\"\n"
  "      }\n"
  "    ) 9>> \"$pai__job/ssh/lock\"\n"
  "    cat \"$pai__job/ssh/key.pub\" >> \"$dir/authorized_keys\"\n"
  "    {\n"
  "      printf '%s' \"$3\"\n"
  "      printf 'Host %s\\n' \"$4\"\n"
  "      printf '  StrictHostKeyChecking no\\n'\n"
  "      printf '  UserKnownHostsFile /dev/null\\n'\n"
  "      printf '  IdentitiesOnly yes\\n  LogLevel ERROR\\n'\n"
  "      printf '  IdentityFile \"%s\"\\n' \"$pai__job/ssh/key\"\n"
  "      printf 'Match all\\n  Include ~/.ssh/config\\n'\n"
  /* Copied, not included: in a sandbox the file is not root's, and ssh refuses
   * it. */
  "      ! [ -r /etc/ssh/ssh_config ] ||\n"
  "        sed '/^[[:space:]]*[Ii]nclude/d' /etc/ssh/ssh_config\n"
  "    } > \"$dir/config\"\n"
  "    for program in ssh scp sftp; do\n"
  "      command -v $program > /dev/null || continue\n"
  "      printf '#!/bin/bash\\nexec %q -F %q \"$@\"\\n' "
  "\"$(command -v $program)\" \\\n"
  "        \"$dir/config\" > \"$dir/bin/$program\"\n"
  "      chmod 700 \"$dir/bin/$program\"\n"
  "    done\n"
  "  fi\n"
  "  case $PAI_CONTAINER_HOST_IP in *:*) family=inet6 ;; esac\n"
  "  cat > \"$dir/sshd_config\" <<END\n"
  "AddressFamily $family\n"
  "Port $PAI_CONTAINER_SSH_PORT\n"
  "HostKey \"$dir/host_key\"\n"
  "PidFile \"$dir/sshd.pid\"\n"
  "AuthorizedKeysFile \"$dir/authorized_keys\"\n"
  "StrictModes no\n"
  "PasswordAuthentication no\n"
  "ChallengeResponseAuthentication no\n"
  "UsePAM no\n"
  "PermitRootLogin prohibit-password\n"
  "AllowUsers $(id -un)\n"
  "PrintMotd no\n"
  "Subsystem sftp internal-sftp\n"
  "$(pai__ssh_variables)\n"
  "END\n"
  "  pai__ssh_in_room \"$dir\"\n"
  "  [ \"$(id -u)\" != 0 ] || [ ${#room[@]} != 0 ] || [ -d /run/sshd ] ||\n"
  "    mkdir -p -m 755 /run/sshd\n"
  "  ${room[@]+\"${room[@]}\"} \"$sshd\" -D -f \"$dir/sshd_config\" "
  "-E \"$dir/sshd.log\" \\\n"
  "    < /dev/null > /dev/null 2>&1 &\n"
  "  until [ -s \"$dir/sshd.pid\" ]; do\n"
  "    if [ $wait -ge 200 ] || ! kill -0 $!; then\n"
  "      pai__fail 1 \"sshd did not start: $(tail -n 1 "
  "\"$dir/sshd.log\")\"\n"
  "    fi\n"
  "    wait=$((wait + 1))\n"
  "    sleep 0.05\n"
  "  done\n"
  "  pai__log \"sshd listens on port $PAI_CONTAINER_SSH_PORT\"\n"
  "}\n";

/* pai__ssh_barrier SECONDS NAME...: waits until all others are reachable.  It
 * tries soon at first, then every ten seconds. */
static const char barrier_script[] =
  "pai__ssh_barrier() {\n"
  "  local limit=$1 pause=1 name\n"
  "  local own=\"$PAI_CURRENT_TASK_ROLE_NAME-$PAI_TASK_INDEX\" left\n"
  "  shift\n"
  "  SECONDS=0\n"
  "  while :; do\n"
  "    left=()\n"
  "    for name in \"$@\"; do\n"
  "      [ \"$name\" = \"$own\" ] ||\n"
  "        ssh -F \"$pai__dir/ssh/config\" -o BatchMode=yes "
  "-o ConnectTimeout=5 \\\n"
  "          \"$name\" exit 0 < /dev/null > /dev/null 2>&1 ||\n"
  "        left+=(\"$name\")\n"
  "    done\n"
  "    if [ ${#left[@]} = 0 ]; then\n"
  "      pai__log 'all tasks are reached by ssh'\n"
  "      return\n"
  "    fi\n"
  "    if [ $SECONDS -ge $limit ]; then\n"
  "      pai__fail 10 \"SSH barrier reaches max retry count, not reached: "
  "${left[*]}\"\n"
  "    fi\n"
  "    set -- \"${left[@]}\"\n"
  "    sleep $pause\n"
  "    pause=$((pause * 2 < 10 ? pause * 2 : 10))\n"
  "  done\n"
  "}\n";

enum {
  BARRIER = 1800 * 10, /* seconds */
  MOST_MINUTES = 60 * 24 * 365
};

/* --- arguments of the scripts -------------------------------------------- */

/* Appends names of a task: with its role's own name, and with the runtime's
 * spelling. */
static void put_names(pai__buf *out, const pai__plan_context *c, size_t task,
                      const char *between)
{
  const char *role = c->spec->roles[c->tasks[task].role].name;
  size_t own;

  pai__buf_printf(out, "%s-%u", role, c->tasks[task].index);
  own = out->len;
  pai__buf_str(out, between);
  pai__name_role(out, role);
  if (pai__buf_ok(out) && strcmp(out->data + own + strlen(between), role) == 0)
    pai__buf_cut(out, own); /* both are equal */
  else
    pai__buf_printf(out, "-%u", c->tasks[task].index);
}

static uint32_t ssh_port(const pai__plan_context *c, size_t task)
{
  const pai__role *role = &c->spec->roles[c->tasks[task].role];
  const uint32_t *ports = c->places[task].ports;

  for (size_t l = 0; ports != NULL && l < role->nports; l++) {
    if (strcmp(role->ports[l].label, "ssh") == 0)
      return role->ports[l].count > 0 ? ports[0] : 0;
    ports += role->ports[l].count;
  }
  return 0;
}

/* Appends each task's address, and all names as one list. */
static void put_hosts(pai__plugin_piece *out, const pai__plugin *p)
{
  const pai__plan_context *c = p->context;
  pai__buf hosts, names;

  pai__buf_init(&hosts, p->arena->alloc);
  pai__buf_init(&names, p->arena->alloc);
  for (size_t t = 0; t < pai__plan_ntasks(c); t++) {
    if (!pai__plan_has(c, t))
      continue;
    pai__buf_str(&hosts, "Host ");
    put_names(&hosts, c, t, " ");
    pai__buf_printf(&hosts, "\n  HostName %s\n  Port %u\n", c->places[t].ip,
                    ssh_port(c, t));
    pai__buf_str(&names, names.len > 0 ? " " : "");
    put_names(&names, c, t, " ");
  }
  pai__put_word(&out->before, pai__buf_text(&hosts));
  pai__buf_char(&out->before, ' ');
  pai__put_word(&out->before, pai__buf_text(&names));
  out->failed |= !pai__buf_ok(&hosts) || !pai__buf_ok(&names);
  pai__buf_dispose(&names);
  pai__buf_dispose(&hosts);
}

/* Appends the user's keys: the platform's and the job's. */
static void put_keys(pai__plugin_piece *out, const pai__plugin *p,
                     pai__node user)
{
  const pai__plan_context *c = p->context;
  const pai__tree *t = c->spec->tree;
  const char *own = pai__plugin_text(
    out, p,
    user != PAI__NO_NODE ? pai__tree_get(t, user, "value") : PAI__NO_NODE);
  pai__buf keys;

  pai__buf_init(&keys, p->arena->alloc);
  if (user != PAI__NO_NODE) {
    for (size_t i = 0; i < c->nuser_keys; i++)
      pai__buf_printf(&keys, "%s\n", c->user_keys[i]);
    if (own != NULL && *own != '\0')
      pai__buf_printf(&keys, "%s\n", own);
  }
  pai__put_word(&out->before, pai__buf_text(&keys));
  out->failed |= !pai__buf_ok(&keys);
  pai__buf_dispose(&keys);
}

static void put_barrier(pai__plugin_piece *out, const pai__plugin *p)
{
  const pai__plan_context *c = p->context;
  pai__node n = pai__plugin_get(p, "sshbarrierTimeout");
  int64_t minutes;

  if (!pai__plugin_is(p, "sshbarrier"))
    return;
  if (n == PAI__NO_NODE || !pai__tree_whole(c->spec->tree, n, &minutes) ||
      minutes < 0 || minutes > MOST_MINUTES)
    minutes = BARRIER / 60;
  pai__buf_str(&out->before, barrier_script);
  pai__buf_printf(&out->before, "pai__ssh_barrier %lld",
                  (long long)minutes * 60);
  for (size_t t = 0; t < pai__plan_ntasks(c); t++)
    if (pai__plan_has(c, t))
      pai__buf_printf(&out->before, " '%s-%u'",
                      c->spec->roles[c->tasks[t].role].name,
                      c->tasks[t].index);
  pai__buf_char(&out->before, '\n');
}

void pai__plugin_ssh(pai__plugin_piece *out, const pai__plugin *p)
{
  pai__node user = pai__plugin_get(p, "userssh");
  bool job =
    pai__plugin_is(p, "jobssh") && pai__form_is_gang(p->context->spec);

  if (user != PAI__NO_NODE &&
      (pai__tree_type(p->context->spec->tree, user) != PAI__MAPPING ||
       pai__tree_count(p->context->spec->tree, user) == 0))
    user = PAI__NO_NODE;
  if (!job && user == PAI__NO_NODE)
    return;
  pai__buf_str(&out->before, room_script);
  pai__buf_str(&out->before, variables_script);
  pai__buf_str(&out->before, server_script);
  pai__buf_printf(&out->before, "pai__ssh %d ", job);
  put_keys(out, p, user);
  pai__buf_char(&out->before, ' ');
  if (job)
    put_hosts(out, p);
  else
    pai__buf_str(&out->before, "'' ''");
  pai__buf_char(&out->before, '\n');
  if (!job)
    return;
  put_barrier(out, p);
  pai__buf_str(&out->sets, "export PATH=\"$pai__dir/ssh/bin:$PATH\"\n");
}
