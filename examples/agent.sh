#!/bin/sh
# A sender for cron: runs one Nagios-style check command and reports its result to Tocsin.
#
#   agent.sh [-n] [-k INCIDENT_KEY] CHECK_ID COMMAND [ARGUMENT...]     report what COMMAND says
#   agent.sh                                                           send a heartbeat only
#
#   -n  report silently: keep state and incidents, but send no notifications
#   -k  group checks of several agents into one incident with this key
#
# Exit code of COMMAND: 0 ok, 1 warning, 2 critical, anything else unknown. Its output appears in notifications.
#
# Environment:
#   TOCSIN_URL        the address of the service       (http://127.0.0.1:8080)
#   TOCSIN_AGENT_ID   the ID of this agent             (the hostname)
#   TOCSIN_STATE_DIR  folder for key, unsent results   ($HOME/.tocsin-agent)
#
# The first run generates a key and prints its fingerprint. An operator compares it and accepts the agent once.
# Unsent results stay in the state folder until the next run; sending one twice does no harm.
# Needs a POSIX shell, curl, awk, od, and sha256sum or shasum or openssl.
#
# A crontab line, every minute:
#   * * * * * TOCSIN_URL=http://monitor:8080 /usr/local/bin/agent.sh disk /usr/lib/nagios/plugins/check_disk -w 20% -c 10% /
set -u
umask 077
LC_ALL=C
export LC_ALL

url=${TOCSIN_URL:-http://127.0.0.1:8080}
url=${url%/}
agent_id=${TOCSIN_AGENT_ID:-$(hostname | tr -c 'A-Za-z0-9._:\n-' '-')}
state=${TOCSIN_STATE_DIR:-${HOME:-/var/lib}/.tocsin-agent}
output_limit=8192
batch_limit=50
spool_limit=1000

die() {
  printf 'agent.sh: %s\n' "$1" >&2
  exit "${2:-1}"
}

random_hex() { # BYTES
  od -An -N"$1" -tx1 /dev/urandom | tr -d ' \n'
}

sha256() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum
  elif command -v shasum >/dev/null 2>&1; then shasum -a 256
  else openssl dgst -sha256 | sed 's/^.* //'
  fi | cut -c1-64
}

# Milliseconds since 1970; whole seconds where date knows no %N.
now_ms() {
  ms=$(date +%s%3N)
  case $ms in
    *[!0-9]*) echo "$(date +%s)000" ;;
    *) echo "$ms" ;;
  esac
}

observed_at() {
  text=$(date -u +%Y-%m-%dT%H:%M:%S.%3NZ)
  case $text in
    *N*) date -u +%Y-%m-%dT%H:%M:%SZ ;;
    *) echo "$text" ;;
  esac
}

# UUID version 7 (RFC 9562): 48 bits of time, so that names sort by time, and 74 random bits.
uuid_v7() {
  time=$(printf '%012x' "$(now_ms)")
  random=$(random_hex 10)
  variant=$(printf '%x' $((0x$(printf %.1s "${random#???}") & 3 | 8)))
  printf '%s-%s-7%.3s-%s%.3s-%s\n' \
    "$(printf %.8s "$time")" "${time#????????}" "$random" "$variant" "${random#????}" "${random#????????}"
}

valid_utf8() {
  if command -v iconv >/dev/null 2>&1; then iconv -c -f UTF-8 -t UTF-8 2>/dev/null; else tr -cd '\11\12\15\40-\176'; fi
}

# Standard input as the inside of a JSON string.
json_text() {
  awk 'BEGIN { for (i = 1; i < 32; i++) escaped[sprintf("%c", i)] = sprintf("\\u%04x", i)
               escaped["\""] = "\\\""; escaped["\\"] = "\\\\" }
       { if (NR > 1) printf "\\n"
         for (i = 1; i <= length($0); i++) { c = substr($0, i, 1); printf "%s", (c in escaped) ? escaped[c] : c } }'
}

# POST BODY_FILE to PATH; sets $status, and $answer to the body.
post() {
  reply=$(curl -sS --max-time 10 --retry 2 --retry-connrefused -H "@$state/authorization" \
    -H 'Content-Type: application/json' --data-binary "@$2" -w '\n%{http_code}' "$url/api/v1/$1" 2>&1)
  status=${reply##*
}
  answer=${reply%
*}
}

unreachable() { # after post; curl says why in the last line
  printf 'no answer from %s; check that the service is running (%s)' "$url" "$(printf %s "$answer" | tail -n 1)"
}

prepare() {
  command -v curl >/dev/null 2>&1 || die 'curl is not installed; install it and run again'
  mkdir -p "$state/spool" "$state/rejected" || die "cannot write to $state; set TOCSIN_STATE_DIR to a folder that you can write to"
  if [ ! -s "$state/authorization" ]; then
    key=$(random_hex 32)
    printf 'Authorization: Bearer %s\n' "$key" >"$state/authorization.$$" &&
      mv "$state/authorization.$$" "$state/authorization"
  fi
}

fingerprint() {
  sed 's/^Authorization: Bearer //' "$state/authorization" | tr -d '\n' | sha256 | cut -c1-16
}

send_heartbeat() { # NUMBER OF ARGUMENTS
  body=$state/heartbeat.$$
  printf '{"agent_id":"%s","observed_at":"%s","hostname":"%s","features":{"push":true,"metrics":false},"labels":{"service_agent_version":"agent.sh-1"}}' \
    "$agent_id" "$(observed_at)" "$(hostname | json_text)" >"$body"
  post heartbeat "$body"
  rm -f "$body"
  case $status:$answer in
    202:*true*) ;;
    202:*) printf 'agent.sh: %s is pending admission with key fingerprint %s\n' "$agent_id" "$(fingerprint)" >&2 ;;
    000:*) [ "$1" -gt 0 ] || die "$(unreachable)" 2 ;; # with results, the one line is theirs
    *) printf 'agent.sh: the service refused the heartbeat: %s %s\n' "$status" "$answer" >&2 ;;
  esac
}

run_check() { # CHECK_ID COMMAND...
  check_id=$1
  shift
  id=$(uuid_v7)
  raw=$state/output.$$
  begun=$(now_ms)
  "$@" >"$raw" 2>&1
  exit_code=$?
  duration=$(($(now_ms) - begun))
  [ "$duration" -ge 0 ] || duration=0
  case $exit_code in
    0) check_status=ok ;;
    1) check_status=warning ;;
    2) check_status=critical ;;
    *) check_status=unknown ;;
  esac
  tr -d '\000' <"$raw" | valid_utf8 >"$raw.text"
  size=$(($(wc -c <"$raw.text")))
  truncated=false
  if [ "$size" -gt "$output_limit" ]; then
    truncated=true
    head -c $((output_limit - 40)) "$raw.text" | valid_utf8 >"$raw.cut"
    printf '...[truncated %s bytes]' $((size - $(wc -c <"$raw.cut"))) >>"$raw.cut"
    mv "$raw.cut" "$raw.text"
  fi
  {
    printf '{"event_id":"%s","check_id":"%s","observed_at":"%s","status":"%s","exit_code":%s,"duration_ms":%s' \
      "$id" "$check_id" "$(observed_at)" "$check_status" "$exit_code" "$duration"
    printf ',"output":"%s","output_truncated":%s,"notifications_enabled":%s' \
      "$(json_text <"$raw.text")" "$truncated" "$notify"
    [ -z "$incident_key" ] || printf ',"incident_key":"%s"' "$(printf %s "$incident_key" | json_text)"
    printf '}'
  } >"$state/spool/.$id" && mv "$state/spool/.$id" "$state/spool/$id.json"
  rm -f "$raw" "$raw.text"
}

# Sends what waits, oldest first, in batches. What another run sends at the same time is recognised by its event_id.
send_spool() {
  ls "$state/spool" | sort -r | tail -n +$((spool_limit + 1)) | while read -r old; do rm -f "$state/spool/$old"; done
  while :; do
    names=$(ls "$state/spool" | head -n "$batch_limit")
    [ -n "$names" ] || return 0
    body=$state/batch.$$
    {
      printf '{"agent_id":"%s","events":[' "$agent_id"
      separator=
      for name in $names; do
        [ -s "$state/spool/$name" ] || continue
        printf %s "$separator"
        cat "$state/spool/$name"
        separator=,
      done
      printf ']}'
    } >"$body"
    if [ -z "$separator" ]; then # another run has sent them all
      rm -f "$body"
      continue
    fi
    post events "$body"
    rm -f "$body"
    case $status in
      202) for name in $names; do rm -f "$state/spool/$name"; done ;;
      400 | 413)
        for name in $names; do mv -f "$state/spool/$name" "$state/rejected/"; done
        die "the service refused these results, which are kept in $state/rejected: $answer"
        ;;
      000) die "$(unreachable); results wait in $state/spool for the next run" 2 ;;
      *) die "results wait in $state/spool for the next run: $status $answer" 2 ;;
    esac
  done
}

usage() {
  sed -n '2,22s/^# \{0,1\}//p' "$0"
}

notify=true
incident_key=
case ${1:-} in --help | -h) usage; exit 0 ;; esac
while getopts nk: option; do
  case $option in
    n) notify=false ;;
    k) incident_key=$OPTARG ;;
    *) usage >&2; exit 64 ;;
  esac
done
shift $((OPTIND - 1))

prepare
send_heartbeat $#
[ $# -gt 0 ] || exit 0
[ $# -gt 1 ] || die 'usage: agent.sh [-n] [-k INCIDENT_KEY] CHECK_ID COMMAND [ARGUMENT...]' 64
run_check "$@"
send_spool
