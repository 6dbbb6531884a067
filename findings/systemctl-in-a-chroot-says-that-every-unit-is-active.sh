#!/bin/sh
# systemd 252.39 (Debian packages systemd and libsystemd-shared =252.39-1~deb12u2), systemctl in a chroot.
#
# Behaviour: systemctl ignores every question there and succeeds. `is-active` exits with 0 for a unit that does not
# exist, `is-failed` too, and `list-units --state=failed` and `show` print nothing on standard output. Only a line on
# standard error says so: "Running in chroot, ignoring command 'is-active'".
#
# Expected: that commands which change units are ignored is documented, for the scripts of packages. From a question,
# people expect an answer or a failure: `systemctl is-active X && …` and monitoring that counts failed units take
# exit code 0 for health, such as in a container that mounts the host at /host and runs `chroot /host`.
#
# Seen on 2026-11-28:
#   is-active no-such.service: exit 0, no output
#   is-failed no-such.service: exit 0, no output
#   list-units --state=failed: exit 0, no output
# Needs root, for a chroot in a namespace of mounts that ends with it.
set -eu

version=252.39-1~deb12u2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq "systemd=$version" "libsystemd-shared=$version" >/dev/null
mkdir root
for package in *.deb; do dpkg -x "$package" root/opt; done

unshare --mount --pid --fork sh -euc '
  for name in bin lib lib64 usr sbin; do
    if [ -L "/$name" ]; then cp -P "/$name" root/; elif [ -d "/$name" ]; then
      mkdir "root/$name"
      mount --rbind "/$name" "root/$name"
    fi
  done
  mkdir root/proc
  mount -t proc proc root/proc
  for question in "is-active no-such.service" "is-failed no-such.service" "list-units --state=failed"; do
    code=0
    chroot root env LD_LIBRARY_PATH=/opt/lib/systemd:/opt/usr/lib/x86_64-linux-gnu/systemd:/opt/lib/x86_64-linux-gnu/systemd \
      /opt/bin/systemctl $question >output 2>errors || code=$?
    echo "$question: exit $code, $(wc -c <output) bytes of output, $(head -n 1 errors)"
    [ "$code" = 0 ] && [ ! -s output ] && grep -q "Running in chroot, ignoring" errors
  done
'
echo 'as described'
