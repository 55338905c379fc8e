# Completion of openpai(1) for bash.
# shellcheck shell=bash
_openpai()
{
  local verbs='run submit list show logs exec attach ssh why wait stop retry clone rm prune files cp events top up serve down status backup export login logout remote compat user group token storage tag vc node doctor at spec cluster sched sim trace when what-if fit help'
  local user_verbs='list show add set passwd remove quota'
  local group_verbs='list show add set remove'
  local remote_verbs='list show add remove use import'
  local token_verbs='list create revoke'
  local storage_verbs='list show add remove'
  local spec_verbs='check render show convert fmt diff schema'
  local cluster_verbs='show check hived top'
  local sched_verbs='replay show explain story hived-replay'
  local sim_verbs='run generate'
  local trace_verbs='show convert'
  local tag_verbs='add remove'
  local vc_verbs='list show add set stop start remove'
  local node_verbs='list show drain resume'
  local forms='openpai hived layout kubernetes slurm alibaba'
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
  local verb=${COMP_WORDS[1]} options='' files=''

  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "$verbs --help --version" -- "$word")
    return
  fi
  if [ "$COMP_CWORD" -gt 2 ]; then
    case $verb in
      user | group | remote | token | storage | spec | cluster | sched | sim | trace | tag | vc | node) verb="$verb ${COMP_WORDS[2]}" ;;
      help) verb="help ${COMP_WORDS[*]:2:COMP_CWORD-2}" ;;
    esac
  fi
  case $verb in
    'trace '*) forms='jsonl sacct sacct_json swf philly helios alibaba2020
      alibaba2023 openpai kubernetes gavel muri' ;;
  esac
  case $verb in
    'spec schema' | 'cluster top') ;;
    run | submit | backup | export | when | what-if | fit | 'spec '* | 'cluster '* | 'sched '* | 'sim run' | 'trace '*) files=yes ;;
  esac
  case $verb in
    run) options='--json --quiet --verbose --name --code --interactive --tty --root --param --env --env-file --clean-env --secrets --secret-file --runtime --detach --gpus --cpus --memory --image --time --vc --priority --after --tag --folder --help' ;;
    submit) options='--json --quiet --name --code --stdin --tty --param --env --env-file --clean-env --secrets --secret-file --runtime --gpus --cpus --memory --image --time --vc --priority --after --tag --folder --refuse-impossible --root --help' ;;
    list) options='--json --live --state --keyword --tag --user --since --limit --sort --columns --wide --root --help' ;;
    show) options='--json --root --help' ;;
    logs) options='--follow --task --log --tail --since --timestamps --no-prefix --attempt --retry --root --help' ;;
    exec) options='--task --tty --no-tty --json --root --help' ;;
    attach) options='--task --tail --quiet --json --root --help' ;;
    ssh) options='--task --json --root --help' ;;
    why) options='--json --root --help' ;;
    wait) options='--json --quiet --state --tag --all --root --help' ;;
    stop) options='--now --state --tag --all --yes --root --help' ;;
    retry) options='--json --name --code --param --secrets --secret-file --state --tag --all --yes --root --help' ;;
    clone) options='--edit --json --name --code --param --secrets --secret-file --runtime --gpus --cpus --memory --image --time --vc --priority --after --tag --folder --root --help' ;;
    rm) options='--keep-files --dry-run --json --state --tag --all --yes --root --help' ;;
    prune) options='--keep --keep-jobs --keep-files --dry-run --yes --json --root --help' ;;
    files) options='--recursive --json --root --help' ;;
    cp) options='--json --root --help' files=yes ;;
    events) options='--follow --json --root --help' ;;
    top) options='--once --all --json --root --help' ;;
    up) options='--foreground --verbose --enable --system --listen --tls-cert --tls-key --runtime --policy --refuse-impossible --pass-env --jobs-as-root --json --root --keep --keep-jobs --keep-size --keep --keep-jobs --keep-size --help' ;;
    serve) options='--listen --tls-cert --tls-key --prefix --cors --trusted-proxies --rate-limit --connections --most-per-address --least-password --reveal-tokens --system --runtime --policy --refuse-impossible --pass-env --jobs-as-root --root --extender --kube-url --kube-token-file --kube-ca-file --kube-config --oidc-issuer --oidc-client-id --oidc-client-secret-file --oidc-redirect --oidc-scope --oidc-pages --oidc-groups-claim --oidc-ca-file --oidc-admins --oidc-domains --oidc-groups --oidc --verbose --keep --keep-jobs --keep-size --keep --keep-jobs --keep-size --help' ;;
    down) options='--kill --leave --quiet --disable --system --root --help' ;;
    status) options='--json --system --root --help' ;;
    backup) options='--force --root --help' ;;
    export) options='--force --root --help' ;;
    tag) options="$tag_verbs --help" ;;
    'tag add') options='--state --tag --all --yes --root --help' ;;
    'tag remove') options='--state --tag --all --yes --root --help' ;;
    vc) options="$vc_verbs --help" ;;
    'vc list') options='--json --root --help' ;;
    'vc show') options='--json --root --help' ;;
    'vc add') options='--capacity --max --description --external-name --root --help' ;;
    'vc set') options='--capacity --max --description --external-name --root --help' ;;
    'vc stop') options='--root --help' ;;
    'vc start') options='--root --help' ;;
    'vc remove') options='--root --help' ;;
    node) options="$node_verbs --help" ;;
    'node list') options='--json --root --help' ;;
    'node show') options='--json --root --help' ;;
    'node drain') options='--reason --root --help' ;;
    'node resume') options='--root --help' ;;
    user) options="$user_verbs --help" ;;
    'user list') options='--json --root --help' ;;
    'user show') options='--json --root --help' ;;
    'user add') options='--admin --email --vc --password-file --root --help' ;;
    'user set') options='--email --vc --groups --admin --no-admin --root --help' ;;
    'user passwd') options='--password-file --root --help' ;;
    'user remove') options='--give-jobs-to --root --help' ;;
    'user quota') options='--set --json --root --help' ;;
    group) options="$group_verbs --help" ;;
    'group list') options='--json --root --help' ;;
    'group show') options='--json --root --help' ;;
    'group add') options='--description --external-name --vc --storage --admin --root --help' ;;
    'group set') options='--description --external-name --vc --storage --admin --no-admin --root --help' ;;
    'group remove') options='--root --help' ;;
    remote) options="$remote_verbs --help" ;;
    login) options='--alias --user --ca-file --token-stdin --password-stdin --oidc --no-browser --help' ;;
    logout) options='--help' ;;
    'remote list') options='--json --help' ;;
    'remote show') options='--help' ;;
    'remote add') options='--user --ca-file --help' ;;
    'remote remove') options='--help' ;;
    'remote use') options='--help' ;;
    'remote import') options='--help' ;;
    compat) options='--help pai opai' ;;
    token) options="$token_verbs --help" ;;
    'token list') options='--json --user --root --help' ;;
    'token create') options='--name --scope --expires --user --root --help' ;;
    'token revoke') options='--user --root --help' ;;
    storage) options="$storage_verbs --help" ;;
    'storage list') options='--json --root --help' ;;
    'storage show') options='--root --help' ;;
    'storage add') options='--type --path --server --data-file --mounted-at --own --read-only --root --help' ;;
    'storage remove') options='--root --help' ;;
    doctor) options='--json --repair --root --help' ;;
    at) options='--log --json --since --root --help queue nodes vcs why decisions' ;;
    spec) options="$spec_verbs --help" ;;
    'spec check') options='--json --sarif --quiet --fix --strict --hived --help' ;;
    'spec render') options='--json --role --param --help' ;;
    'spec show') options='--json --help' ;;
    'spec convert') options='--to --json --show-secrets --help' ;;
    'spec fmt') options='--write --check --help' ;;
    'spec diff') options='--json --help' ;;
    'spec schema') options='--version --help' ;;
    cluster) options="$cluster_verbs --help" ;;
    'cluster show') options='--from --as --svg --json --yaml --name --help' ;;
    'cluster check') options='--as --json --sarif --quiet --strict --help' ;;
    'cluster hived') options='--from --as --json --output --help' ;;
    'cluster top') options='--once --count --interval --json --help' ;;
    sched) options="$sched_verbs --help" ;;
    'sched replay') options='--json --check --options --policy --until --root --help' ;;
    'sched show') options='--json --until --root --help' ;;
    'sched explain') options='--json --until --root --help' ;;
    'sched story') options='--json --policy --root --help' ;;
    'sched hived-replay') options='--config-dir --json --help' ;;
    sim) options="$sim_verbs --help" ;;
    when) options='--history --arrivals --no-arrivals --runs --seed --quick --root --json --help' ;;
    what-if) options='--submit --kill --drain --add --vc --policy --config --force --history --arrivals --no-arrivals --runs --seed --quick --root --json --help' ;;
    fit) options='--vc --history --arrivals --no-arrivals --runs --seed --quick --root --json --help' ;;
    'sim run') options='--cluster --trace --policy --as --model --sort --strict --verbose --seed --until --estimates --start-cost --restart-cost --stop-cost --checkpoint --mtbf --mttr --fail --patience --stretch --spread --json --csv --html --log --events --jobs-csv --help' ;;
    'sim generate') options='--jobs --seed --like --load --gpus --cluster
      --most-gpus --gpus-per-node --users --vcs --model --faults --help' ;;
    trace) options="$trace_verbs --help" ;;
    'trace show') options='--json --as --sort --strict --help' ;;
    'trace convert') options='--as --model --sort --strict --help' ;;
    help) options=$verbs ;;
    'help user') options=$user_verbs ;;
    'help group') options=$group_verbs ;;
    'help remote') options=$remote_verbs ;;
    'help token') options=$token_verbs ;;
    'help storage') options=$storage_verbs ;;
    'help spec') options=$spec_verbs ;;
    'help cluster') options=$cluster_verbs ;;
    'help sched') options=$sched_verbs ;;
    'help sim') options=$sim_verbs ;;
    'help trace') options=$trace_verbs ;;
    'help tag') options=$tag_verbs ;;
    'help vc') options=$vc_verbs ;;
    'help node') options=$node_verbs ;;
  esac
  if [ "$before" = --root ] || [ "$before" = --config-dir ] ||
    [ "$before" = --code ]; then
    mapfile -t COMPREPLY < <(compgen -d -- "$word")
  elif [ "$before" = --password-file ] ||
    [ "$before" = --data-file ]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  elif [ "$before" = --as ]; then
    mapfile -t COMPREPLY < <(compgen -W "$forms" -- "$word")
  elif [ "$before" = --runtime ]; then
    mapfile -t COMPREPLY < <(compgen -W 'auto process bwrap podman docker' -- "$word")
  elif [ "$before" = --policy ]; then
    mapfile -t COMPREPLY < <(compgen -W 'fifo backfill priority capacity fair k8s hived' -- "$word")
  elif [ "$before" = --like ]; then
    mapfile -t COMPREPLY < <(compgen -W 'philly helios' -- "$word")
  elif [ "$before" = --to ] || [ "$before" = --version ]; then
    mapfile -t COMPREPLY < <(compgen -W 'v1 v2' -- "$word")
  elif [ "$before" = --log ]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  elif [ -n "$files" ] && [ "${word#-}" = "$word" ]; then
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  fi
}
complete -o filenames -F _openpai openpai
