#!/usr/bin/env bash
# cron 3.0pl1-162 (Debian packages cron and cron-daemon-common =3.0pl1-162), its mails.
#
# The subject of a mail ends with " (failed)" where the job failed, but only if the daemon runs with a log level that has
# the bit 4 ("log jobs with exit status != 0"), such as `-L 5`. The level without the option, and of the package's unit, is 1:
# the mail of a failed job is then the same as that of one that succeeded and printed something.
#
# Expected: `-L` decides what is written to the log, as cron(8) and /etc/default/cron say; not what is in mails. Filters
# and ticket systems that look for "(failed)" work on one host and miss every failure on the next.
#
# Seen on 2026-11-30, of a job `echo out; exit 3` in each:
#   without -L: Cron <root@host> echo out; exit 3
#   with -L 5:  Cron <root@host> echo out; exit 3 (failed)
# Needs root, for namespaces of mounts that end with it. Takes up to a minute: cron looks at each full one.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq "cron=3.0pl1-162" "cron-daemon-common=3.0pl1-162" >/dev/null 2>&1
for package in ./*.deb; do dpkg -x "$package" package; done

# The job's mail, of a cron that sees this folder's programs, spool and configuration.
mail_of() {
  local name=$1
  shift
  mkdir -p "$name"/{sbin,etc/pam.d,run,spool}
  cp package/usr/sbin/cron "$name/sbin/"
  printf '#!/bin/sh\ncat >%s/mail.part\nmv %s/mail.part %s/mail\n' "$work/$name" "$work/$name" "$work/$name" >"$name/sbin/sendmail"
  chmod 755 "$name/sbin/sendmail"
  cp /etc/passwd /etc/group /etc/ld.so.cache "$name/etc/"
  printf 'account required pam_permit.so\nsession required pam_permit.so\nauth required pam_permit.so\n' >"$name/etc/pam.d/cron"
  printf '* * * * * root echo out; exit 3\n' >"$name/etc/crontab"
  chmod 644 "$name/etc/crontab"
  unshare --mount --uts --pid --fork --kill-child bash -euc '
    hostname host
    name=$1
    shift
    for place in sbin:/usr/sbin etc:/etc run:/run spool:/var/spool; do mount --bind "$name/${place%%:*}" "${place#*:}"; done
    mkdir -p /var/spool/cron/crontabs
    /usr/sbin/cron -f "$@" &
    for _ in $(seq 750); do
      [ -e "$name/mail" ] && exit 0
      sleep 0.1
    done
    exit 1
  ' mail "$work/$name" "$@" 2>"$name/errors"
}

mail_of plain &
plain=$!
mail_of loud -L 5
wait "$plain"
subject() { sed -n 's/^Subject: //p' "$1/mail"; }
echo "without -L: $(subject plain)"
echo "with -L 5:  $(subject loud)"
[ "$(subject plain)" = "Cron <root@host> echo out; exit 3" ]
[ "$(subject loud)" = "Cron <root@host> echo out; exit 3 (failed)" ]
