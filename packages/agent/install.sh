#!/bin/sh
# Installs the Tocsin agent with its systemd unit, or upgrades it: sudo sh tocsin-agent.sh --server URL
# Your server hands out this script as /agent/install.sh, with the checksums of all that the script fetches.
set -eu

# The path of systemd's units, so that the agent later finds the Node.js that is found here.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PATH
umask 022

checksums='
@CHECKSUMS@
'
program=/usr/bin/tocsin-agent
library=/usr/lib/tocsin-agent
unit=/lib/systemd/system/tocsin-agent.service
documents=/usr/share/doc/tocsin-agent
settings=/etc/tocsin-agent
state=/var/lib/tocsin-agent
# Seconds.
patience=30
retrying=60

say() { printf '%s\n' "$@"; }
fail() {
  printf 'tocsin-agent.sh: %s\n' "$*" >&2
  exit 1
}

usage() {
  say 'sudo sh tocsin-agent.sh --server URL   install the agent, or upgrade it' \
    '  --token-file FILE   the enrolment token, which the script asks for otherwise' \
    'sudo sh tocsin-agent.sh --remove       remove the agent; its configuration, key and unsent results stay' \
    'sudo sh tocsin-agent.sh --purge        remove these, too'
}

has_systemd() { [ -d /run/systemd/system ]; }
is_packaged() { dpkg-query -W -f '${Status}' tocsin-agent 2>/dev/null | grep -q ' installed'; }
is_accepted() { tocsin-agent status --json 2>/dev/null | grep -q '"admission":"accepted"'; }

# Keeps other runs away until this one ends.
lock() {
  exec 9>/run/tocsin-agent.lock
  flock -n 9 || fail 'another run of this script is under way: run it again once that has ended'
}

remove() {
  if has_systemd; then
    systemctl disable --quiet --now tocsin-agent 2>/dev/null || true
  else
    say 'systemd does not run here: end the agent yourself if it runs.'
  fi
  rm -rf $program $library $unit $documents
  if has_systemd; then systemctl daemon-reload; fi
  if [ "$1" = --remove ]; then
    say "tocsin-agent is removed. Its configuration stays in $settings, its key and unsent results in $state."
    return
  fi
  rm -rf $settings $state
  if getent passwd tocsin-agent >/dev/null; then userdel tocsin-agent; fi
  if getent group tocsin-agent >/dev/null; then groupdel tocsin-agent; fi
  say 'tocsin-agent is removed, with its configuration, its key and unsent results.'
}

# Fetches a file of the server into the scratch folder.
fetch() {
  sum=$(say "$checksums" | while read -r sum name; do [ "$name" != "$1" ] || say "$sum"; done)
  [ -n "$sum" ] || return 1
  curl -fsSL --retry 10 --retry-max-time $retrying --connect-timeout $patience --speed-limit 1 --speed-time $patience \
    -o "$scratch/$1" "$server/agent/$1" || {
    [ $? != 28 ] || fail "$server/agent/$1 stands still: nothing came for $patience seconds; look at the network, then run this script again"
    fail "cannot get $server/agent/$1"
  }
  say "$sum  $scratch/$1" | sha256sum -c - >/dev/null 2>&1 ||
    fail "$1 is not the file that this script expects: get the script again, since the server may have another version now"
}

# Asks for the enrolment token, which the terminal does not show.
ask() {
  (: </dev/tty) 2>/dev/null || return 0
  shown=$(stty -g </dev/tty)
  stty -echo </dev/tty
  printf 'Enrolment token, or nothing to accept the agent by its fingerprint: ' >/dev/tty
  IFS= read -r token </dev/tty || true
  stty "$shown" </dev/tty
  say '' >/dev/tty
}

clean() {
  [ -z "$shown" ] || stty "$shown" </dev/tty
  rm -rf "$scratch" $program.new
}

server=
token=
token_file=
shown=
while [ $# -gt 0 ]; do
  case $1 in
    --server | --token-file) [ $# -gt 1 ] || fail "$1 needs a value" ;;
  esac
  case $1 in
    --server)
      server=${2%/}
      shift
      ;;
    --token-file)
      token_file=$2
      shift
      ;;
    --remove | --purge)
      [ "$(id -u)" = 0 ] || fail 'run it as root, with sudo'
      if is_packaged; then fail 'the package for Debian is installed: remove that with apt'; fi
      lock
      remove "$1"
      exit
      ;;
    --help)
      usage
      exit
      ;;
    *) fail "$1 is no option: see --help" ;;
  esac
  shift
done

[ -n "$server" ] || fail 'name your server: sudo sh tocsin-agent.sh --server https://monitor.example'
case $server in
  *[!][A-Za-z0-9._~:/@%+,=-]*) fail "$server is no address: write it without spaces, quotes and the like" ;;
  https://?*) ;;
  http://?*)
    host=${server#http://}
    host=${host%%/*}
    case ${host##*@} in
      localhost | localhost:* | 127.0.0.1 | 127.0.0.1:* | '[::1]' | '[::1]:'*) ;;
      *) say "$server is not encrypted: everyone on the way can read the agent's key and change its results." ;;
    esac
    ;;
  *) fail "$server is no address: begin it with https://" ;;
esac
[ "$(id -u)" = 0 ] || fail 'run it as root, with sudo'
[ "$(uname -s)" = Linux ] || fail "it installs the agent on Linux: docs/agent.md has the package for npm"
if is_packaged; then fail 'the package for Debian is installed: upgrade that with apt'; fi
for tool in curl sha256sum tar gzip install useradd flock; do
  command -v $tool >/dev/null || fail "$tool is missing: install it"
done
lock

case $(uname -m) in
  x86_64) executable=tocsin-agent-linux-x64 ;;
  aarch64) executable=tocsin-agent-linux-arm64 ;;
  *) executable=tocsin-agent-linux-$(uname -m) ;;
esac
node=$(node --version 2>/dev/null || echo none)
scratch=$(mktemp -d)
trap clean EXIT
trap 'exit 1' HUP INT TERM

fetch tocsin-agent.tgz || fail 'this script has no checksums: get it from your server, at /agent/install.sh'
tar -xzf "$scratch/tocsin-agent.tgz" -C "$scratch"
from=$scratch/package

# Run before anything is replaced.
if version=$(node "$from/tocsin-agent.mjs" --version 2>/dev/null); then
  by="Node.js ${node#v}"
elif fetch "$executable"; then
  by=$executable
  fetch tocsin-agent-licenses.txt || fail "the server has no tocsin-agent-licenses.txt: put it beside $executable"
  mv "$scratch/tocsin-agent-licenses.txt" "$from/LICENSES.txt"
  install -m 755 "$scratch/$executable" $program.new
  version=$($program.new --version) || fail 'the agent does not run on this system: it needs glibc 2.28 or newer'
else
  fail "a Node.js that runs the agent is missing (found: $node), and so is $executable on the server: install the latest Node.js 24 in $PATH, or put that file of \"npm run package\" into the server's SERVICE_AGENT_DIR and get this script again"
fi

if [ -n "$token_file" ]; then
  token=$(cat "$token_file") || fail "cannot read $token_file"
elif ! is_accepted; then
  ask
fi
case $token in
  '' | enrol_*) ;;
  *) fail 'this is no enrolment token: it begins with enrol_' ;;
esac

mkdir -p $library $documents
if [ "$by" = "$executable" ]; then
  mv -f $program.new $program
  rm -f $library/tocsin-agent.mjs
else
  install -m 644 "$from/tocsin-agent.mjs" $library/tocsin-agent.mjs.new
  mv -f $library/tocsin-agent.mjs.new $library/tocsin-agent.mjs
  install -m 755 "$from/host/tocsin-agent" $program.new
  mv -f $program.new $program
fi
install -D -m 644 "$from/tocsin-agent.service" $unit
install -m 644 "$from/host/README.md" $documents/README.md
install -m 644 "$from/LICENSES.txt" $documents/copyright
[ ! -f "$0" ] || [ "$(readlink -f "$0")" = "$(readlink -f $library/install.sh)" ] || install -m 755 "$0" $library/install.sh

config=$settings/config.yaml
[ -e $config ] || install -D -m 640 "$from/host/config.yaml" $config
if ! grep -q '^server:' $config; then
  sed -i "s|^#server:.*|server: $server|" $config
  grep -q '^server:' $config || say "server: $server" >>$config
elif ! grep -qE "$(say "$server" | sed 's/[.+[]/\\&/g')/?([],\"'[:space:]]|\$)" $config; then
  say "$config names another server than $server, and stays as it is."
fi
if [ -n "$token" ]; then (
  umask 077
  say "$token" >$settings/enrolment_token
); fi
# The user, the state folder and the unit, as in the package for Debian.
sh "$from/host/postinst" configure 9>&-

say "tocsin-agent $version is installed, and runs on $by. Its configuration is $config."
if ! has_systemd; then
  say 'systemd does not run here: the unit is installed, but starts nothing. Start the agent as its user, or again if it runs:' \
    '  setpriv --reuid=tocsin-agent --regid=tocsin-agent --clear-groups tocsin-agent start'
elif [ -n "$token" ]; then
  tries=20
  until is_accepted || [ $tries = 0 ]; do
    tries=$((tries - 1))
    sleep 1
  done
fi
if is_accepted; then
  say 'The server has accepted this agent.'
  rm -f $settings/enrolment_token
elif [ -z "$token" ] || has_systemd; then
  say 'Unless the server has accepted this agent, compare its fingerprint there:' "  $(tocsin-agent fingerprint)"
fi
say 'To upgrade it, get this script from the server again, and run it. To remove it:' \
  "  sudo sh $library/install.sh --remove   (with --purge also its configuration, key and unsent results)"
