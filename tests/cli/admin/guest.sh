#!/bin/busybox sh
# guest.sh - the first program of a virtual machine with control groups of
# version 2: runs jobs, and says of each thing "ok" or "WRONG" and what it was
export PATH=/usr/bin:/bin HOME=/root LD_LIBRARY_PATH=/usr/lib
export OPENPAI_RUNTIME=process OPENPAI_TASK=/usr/libexec/openpai/openpai-task
echo "GUEST note: begun"
/bin/busybox mkdir -p /proc /sys /dev /tmp /root /run /usr/bin
/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mkdir -p /dev/shm
mount -t tmpfs none /dev/shm
mount -t tmpfs none /tmp
mount -t cgroup2 none /sys/fs/cgroup
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
ip link set lo up 2>/dev/null
groups=/sys/fs/cgroup
cd /root || exit

say() { # say WHETHER WHAT...
  if [ "$1" = 0 ]; then shift; echo "GUEST ok: $*"; else shift; echo "GUEST WRONG: $*"; fi
}
has() { # has TEXT PART: a line for people
  case $1 in *"$2"*) say 0 "$1" ;; *) say 1 "$1, not: $2" ;; esac
}
limits() { openpai status --root "$1" | sed -n 's/^limits *//p'; }
job() { # job NAME CPUS MIB COMMAND
  cat >/root/job.yaml <<X
protocolVersion: 2
name: $1
type: job
prerequisites: [{name: x, type: dockerimage, uri: host}]
taskRoles:
  a:
    dockerImage: x
    resourcePerInstance: {cpu: $2, memoryMB: $3, gpu: 0}
    commands:
      - |
        $4
X
}

# --- in a group with others: nothing can be divided, and that is said
mkdir $groups/session
(
  sh -c "echo \$\$ >$groups/session/cgroup.procs; openpai up --root /tmp/a"
  sh -c "echo \$\$ >$groups/session/cgroup.procs; exec sleep 1000" &
  openpai down --root /tmp/a
  sh -c "echo \$\$ >$groups/session/cgroup.procs; openpai up --root /tmp/a"
) >/dev/null
has "$(limits /tmp/a)" "other processes are in the control group of this process"
job seen 1 64 "x=aaaaaaaa; while :; do x=\$x\$x; done"
openpai run --root /tmp/a job.yaml >/dev/null 2>&1
has "$(openpai show --root /tmp/a seen | grep state)" "code -1200"
openpai down --root /tmp/a >/dev/null

# --- in the first group of all
openpai up --root /tmp/b >/dev/null
has "$(limits /tmp/b)" "control groups, version 2, limit memory, cpu, cpuset"
job held 1 64 "x=aaaaaaaa; while :; do x=\$x\$x; done"
openpai run --root /tmp/b job.yaml >/dev/null 2>&1
has "$(openpai show --root /tmp/b held | grep state)" "code -1200"
openpai down --root /tmp/b >/dev/null

# --- in a scope that systemd gives: here a word of ours makes it
mkdir -p /run/systemd
: >/run/systemd/private
cat >/usr/bin/systemd-run <<'X'
#!/bin/sh
echo "$*" >/root/asked
while [ "$1" != -- ]; do shift; done
shift
mkdir -p /sys/fs/cgroup/scope
echo $$ >/sys/fs/cgroup/scope/cgroup.procs
exec "$@"
X
chmod +x /usr/bin/systemd-run
openpai up --root /tmp/c >/dev/null
has "$(cat /root/asked)" "--system --scope --quiet --collect --property=Delegate=yes"
has "$(limits /tmp/c)" "control groups, version 2, limit memory, cpu, cpuset"
has "the platform is in $(cat $groups/scope/openpai-self/cgroup.procs)" " $(cat /tmp/c/lock)"
job memory 1 64 "x=aaaaaaaa; while :; do x=\$x\$x; done"
openpai run --root /tmp/c job.yaml >/dev/null 2>&1
has "$(openpai show --root /tmp/c memory | grep state)" "code -1200"
job enough 1 256 "x=aaaaaaaa; while [ \${#x} -lt 30000000 ]; do x=\$x\$x; done; echo \${#x}"
has "$(openpai run --root /tmp/c job.yaml)" 33554432
job cpu 1 64 "timeout 2 sh -c 'while :; do :; done' & timeout 2 sh -c 'while :; do :; done' & cat /sys/fs/cgroup\$(sed s/0::// /proc/self/cgroup)/cpu.max; wait"
has "$(openpai run --root /tmp/c job.yaml)" "100000 100000"
set -- $(grep ^exit /tmp/c/jobs/*cpu/0/a-0/status)
echo "GUEST note: two loops of 2 s took ${5-0} us of one CPU"
[ "${5-0}" -gt 1000000 ] && [ "$5" -lt 2600000 ]
say $? "a task of one CPU has one"
job set 1 64 "echo \$(grep Cpus_allowed_list /proc/self/status) in \$(sed s/0::// /proc/self/cgroup)"
has "$(openpai run --root /tmp/c job.yaml)" "Cpus_allowed_list: 0 in /scope/openpai-"
[ -z "$(ls -d $groups/scope/openpai-?????* 2>/dev/null)" ]
say $? "no group is left"
openpai down --root /tmp/c >/dev/null

# --- a manager that refuses
printf '#!/bin/sh\necho Failed to connect >&2\nexit 1\n' >/usr/bin/systemd-run
openpai up --root /tmp/d >/dev/null
has "$(limits /tmp/d)" "control groups, version 2"
has "$(cat /tmp/d/log)" "Failed to connect"
openpai down --root /tmp/d >/dev/null
echo "GUEST end"
poweroff -f
