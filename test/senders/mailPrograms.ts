/** Where programs have their mails, and what takes those that they send by SMTP. */
export interface Mailing {
  readonly address: string
  /** Where Tocsin takes mails. */
  readonly port: number
  /** Where the relay takes mails. */
  readonly relay: number
}

/** A relay before Tocsin: Postfix, which hands on by SMTP and repeats what was not taken each second. */
const postfix = ({ port, relay }: Mailing): string => `
cat >/etc/postfix/main.cf <<END
compatibility_level = 3.6
myhostname = vm.example.org
mydestination =
inet_interfaces = loopback-only
inet_protocols = ipv4
relayhost = [127.0.0.1]:${port}
smtp_host_lookup = native
queue_run_delay = 1s
minimal_backoff_time = 1s
maximal_backoff_time = 2s
END
sed -i "s/^smtp .*inet.*smtpd/127.0.0.1:${relay} inet n - n - - smtpd/" /etc/postfix/master.cf
postfix start
`

/** A job that fails each minute until a file is there, and says so then. */
const cron = ({ address }: Mailing): string => `
cat >/usr/local/bin/backup <<END
#!/bin/sh
test -e /repaired && echo all saved && exit
echo no room
exit 1
END
chmod 755 /usr/local/bin/backup
rm -f /etc/cron.d/* /etc/cron.daily/*
printf "MAILTO=${address}\\nPATH=/usr/bin:/bin:/usr/local/bin\\n* * * * * root backup\\n" >/etc/crontab
cron -L 5
`

/** Looks for a file, and says each two seconds that it is missing. */
const monit = ({ address, relay }: Mailing): string => `
cat >/etc/monit/monitrc <<END
set daemon 2
set log /var/log/monit.log
set mailserver 127.0.0.1 port ${relay}
set alert ${address} with reminder on 10 cycles
check file watched path /repaired
END
chmod 600 /etc/monit/monitrc
monit
`

/** A package whose new version cannot be configured until a file is there, in a repository of this machine. */
const unattendedUpgrades = ({ address }: Mailing): string => `
mkdir -p /repository /build/DEBIAN
publish() {
  printf "Package: sample\\nVersion: $1\\nArchitecture: all\\nMaintainer: nobody <root@vm>\\nDescription: sample\\n" \
    >/build/DEBIAN/control
  printf "#!/bin/sh\\n[ $1 = 1 ] || [ -e /repaired ]\\n" >/build/DEBIAN/postinst
  chmod 755 /build/DEBIAN/postinst
  rm -f /repository/*
  file=sample_$1_all.deb
  dpkg-deb -b /build "/repository/$file" >/dev/null
  {
    dpkg-deb -f "/repository/$file"
    echo "Filename: ./$file"
    echo "Size: $(stat -c %s "/repository/$file")"
    echo "SHA256: $(sha256sum <"/repository/$file" | cut -d " " -f 1)"
    echo
  } >/repository/Packages
  {
    echo "Origin: sample"
    echo "Date: $(date -Ru)"
    echo "SHA256:"
    echo " $(sha256sum </repository/Packages | cut -d " " -f 1) $(stat -c %s /repository/Packages) Packages"
  } >/repository/Release
  apt-get update >/dev/null
}
rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*
echo "deb [trusted=yes] file:/repository ./" >/etc/apt/sources.list
cat >/etc/apt/apt.conf.d/50unattended-upgrades <<END
Unattended-Upgrade::Origins-Pattern { "origin=sample"; };
Unattended-Upgrade::Mail "${address}";
Unattended-Upgrade::MailReport "always";
Unattended-Upgrade::Sender "root@vm.example.org";
END
publish 1
apt-get install -y sample >/dev/null
upgrade() { publish "$1"; unattended-upgrade || true; }
upgrade 2
`

/** The packages of Debian that {@link mailPrograms} runs. */
export const MAIL_PACKAGES = "postfix,cron,monit,unattended-upgrades"

/**
 * A script that starts programs that mail, in a system of their own, and goes on with commands of its input. Their
 * faults end with the file `/repaired`; `upgrade N` publishes another version of a package and upgrades it.
 */
export const mailPrograms = (mailing: Mailing): string => `
set -eu
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
${postfix(mailing)}
${cron(mailing)}
${monit(mailing)}
${unattendedUpgrades(mailing)}
while read -r line; do eval "$line"; done
`
