#!/bin/sh
# Installs the Tocsin agent and its systemd unit, or upgrades them: sh install.sh BASE
# BASE is the https address, or the folder, of the files that `npm run package` makes.
# To remove it, run `systemctl disable --now tocsin-agent`, and delete /usr/bin/tocsin-agent,
# /lib/systemd/system/tocsin-agent.service, /usr/share/doc/tocsin-agent, /etc/tocsin-agent (its configuration),
# /var/lib/tocsin-agent (its key and unsent results), and the user tocsin-agent.
set -eu

fail() {
  printf 'install.sh: %s\n' "$*" >&2
  exit 1
}

base=${1-}
base=${base%/}
case $base in
  https://* | http://localhost[:/]* | http://127.0.0.1[:/]*)
    command -v curl >/dev/null || fail 'curl is missing: install it'
    fetch() { curl -fsSL --retry 2 -o "$scratch/$1" "$base/$1"; }
    ;;
  http://*) fail "$base is not encrypted: use its https address, or copy the files and give their folder" ;;
  '') fail 'give the address or the folder of the files: sh install.sh https://downloads.example/tocsin' ;;
  *) fetch() { cp "$base/$1" "$scratch/$1"; } ;;
esac
case $(uname -sm) in
  'Linux x86_64') architecture=x64 ;;
  'Linux aarch64') architecture=arm64 ;;
  *) fail "there is no executable for $(uname -sm): docs/agent.md has the package for npm" ;;
esac
[ "$(id -u)" = 0 ] || fail 'run it as root'
for tool in sha256sum tar xz useradd; do
  command -v $tool >/dev/null || fail "$tool is missing: install it"
done
if dpkg-query -W -f '${Status}' tocsin-agent 2>/dev/null | grep -q ' installed'; then
  fail 'the package for Debian is installed: upgrade that with apt'
fi

program=/usr/bin/tocsin-agent
config=/etc/tocsin-agent/config.yaml
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" $program.new' EXIT
trap 'exit 1' HUP INT TERM

file=tocsin-agent-linux-$architecture.tar.xz
for part in SHA256SUMS "$file"; do
  fetch "$part" || fail "cannot get $base/$part"
done
grep "^[0-9a-f]\{64\}  $file\$" "$scratch/SHA256SUMS" >"$scratch/sum" || fail "SHA256SUMS does not list $file"
(cd "$scratch" && sha256sum -c sum >/dev/null 2>&1) || fail "$file is damaged: its SHA-256 differs from SHA256SUMS"
tar -xJf "$scratch/$file" -C "$scratch"

# Run before anything is replaced: it may need a newer C library than this system's.
install -m 755 "$scratch/usr/bin/tocsin-agent" $program.new
version=$($program.new --version) || fail 'the agent does not run on this system: it needs glibc 2.28 or newer'

for part in lib/systemd/system/tocsin-agent.service usr/share/doc/tocsin-agent/README.md \
  usr/share/doc/tocsin-agent/copyright; do
  install -D -m 644 "$scratch/$part" "/$part"
done
[ -e $config ] || install -D -m 640 "$scratch$config" $config
mv -f $program.new $program
# The user, the state folder and the unit, as in the package for Debian.
sh "$scratch/DEBIAN/postinst" configure

cat <<END
tocsin-agent $version is installed. Unless it has a server, run as root, with yours:
  sed -i 's|^#server:.*|server: https://monitor.example|' $config
  systemctl restart tocsin-agent
  tocsin-agent fingerprint
Accept that fingerprint on the server. Or run "tocsin enrolments create" there, and put its token
into /etc/tocsin-agent/enrolment_token before the restart: the server then accepts the agent.
END
