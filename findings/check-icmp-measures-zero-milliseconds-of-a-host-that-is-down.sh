#!/bin/sh
# Monitoring Plugins 2.3.3 of Debian 12 (monitoring-plugins-standard 2.3.3-5+deb12u2), check_icmp.
#
# Behaviour: where no packet comes back, the words say "rta nan, lost 100%", and the performance data of the same line
# say rta=0.000ms, rtmax=0.000ms and rtmin=0.000ms.
#
# Expected: no value, such as U, which the guidelines have for what could not be determined, and which check_ping of
# the same package states. A chart of the numbers shows the best time ever while the host is down, and an alert on
# their mean turns good by an outage.
#
# Seen on 2026-11-28:
#   CRITICAL - 10.9.9.2: rta nan, lost 100%|rta=0.000ms;200.000;500.000;0; pl=100%;40;80;; rtmax=0.000ms;;;; rtmin=0.000ms;;;;
# Needs root, for a namespace of networks in which no packet arrives.
set -eu

version=2.3.3-5+deb12u2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq "monitoring-plugins-standard=$version" "monitoring-plugins-basic=$version" >/dev/null
for package in *.deb; do dpkg -x "$package" plugins; done
plugin=$(find plugins -name check_icmp)

unshare --net "$plugin" -H 10.9.9.2 -n 3 -m 1 >output || true
cat output
grep -q 'rta nan, lost 100%' output
grep -q '|rta=0\.000ms;.* pl=100%;.* rtmax=0\.000ms;.* rtmin=0\.000ms;' output
echo 'as described'
