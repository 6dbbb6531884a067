import { assert, describe, it } from "@effect/vitest"
import { headlineOf } from "@tocsin/contract/formats/headline"
import { boundsOf, readingsOf } from "@tocsin/core/features/numbers/readings"

/** Where an output is from, what the program wrote, and its numbers: `name=value unit;warn;crit;min;max`. */
type Output = readonly [from: string, output: string, ...numbers: ReadonlyArray<string>]

/** Of monitoring-plugins 2.3.3 of Debian 12, run in November 2026. */
const DEBIAN: ReadonlyArray<Output> = [
  [
    "check_load -w 5,4,3 -c 10,8,6",
    "LOAD CRITICAL - total load average: 10.77, 9.76, 8.47|load1=10.770;5.000;10.000;0; load5=9.760;4.000;8.000;0; load15=8.470;3.000;6.000;0; \n",
    "load1=10.77 ;5.000;10.000;0",
    "load5=9.76 ;4.000;8.000;0",
    "load15=8.47 ;3.000;6.000;0",
  ],
  [
    "check_load -r",
    "LOAD OK - scaled load average: 4.54 - total load average: 9.09|load1=9.090;;;0; scaled_load1=4.545;5.000;9.000;0; ",
    "load1=9.09 ;;;0",
    "scaled_load1=4.545 ;5.000;9.000;0",
  ],
  [
    "check_disk -w 10% -c 5% -W 10% -K 5% -P -p /",
    "DISK OK - free space: / 76357MiB (73% inode=96%);| /=28876734464B;243497277849;257024904396;0;270552530944 '/ (inodes)'=658417;15099494;15938355;0;16777216",
    "/=28876734464 B;243497277849;257024904396;0;270552530944",
    "/ (inodes)=658417 ;15099494;15938355;0;16777216",
  ],
  [
    "check_disk of memory",
    "DISK OK - free space: /dev/shm 23454MiB (97% inode=99%);| /dev/shm=682622976B;25265438720;25270681600;0;25275924480",
    "/dev/shm=682622976 B;25265438720;25270681600;0;25275924480",
  ],
  [
    "check_http -w 1 -c 2",
    "HTTP OK: HTTP/1.0 200 OK - 8400 bytes in 0.004 second response time |time=0.004252s;1.000000;2.000000;0.000000;10.000000 size=8400B;;;0;",
    "time=0.004252 s;1.000000;2.000000;0.000000;10.000000",
    "size=8400 B;;;0",
  ],
  [
    "check_curl -E",
    "HTTP OK: HTTP/1.1 200 OK |time=0.005356s;;;0.000000;10.000000 size=8400B;;;0; time_connect=0.000156s;;;;10.000000  time_headers=0.000184s;;;;10.000000 time_transfer=0.000054s;;;;10.000000",
    "time=0.005356 s;;;0.000000;10.000000",
    "size=8400 B;;;0",
    "time_connect=0.000156 s;;;;10.000000",
    "time_headers=0.000184 s;;;;10.000000",
    "time_transfer=0.000054 s;;;;10.000000",
  ],
  [
    "check_ping -w 100,20% -c 500,60%",
    "PING OK - Packet loss = 0%, RTA = 0.05 ms|rta=0.049000ms;100.000000;500.000000;0.000000 pl=0%;20;60;0;",
    "rta=0.000049 s;0.1;0.5;0",
    "pl=0 %;20;60;0",
  ],
  [
    "check_icmp",
    "OK - 127.0.0.1: rta 0.012ms, lost 0%|rta=0.012ms;200.000;500.000;0; pl=0%;40;80;; rtmax=0.041ms;;;; rtmin=0.005ms;;;; ",
    "rta=0.000012 s;0.2;0.5;0",
    "pl=0 %;40;80",
    "rtmax=0.000041 s",
    "rtmin=0.000005 s",
  ],
  [
    "check_procs -w 1:100 -c 200",
    "PROCS WARNING: 125 processes | procs=125;1:100;200;0;",
    "procs=125 ;1:100;200;0",
  ],
  [
    "check_procs -m CPU",
    "CPU WARNING: 1 warn out of 125 processes | procs=125;;;0; procs_warn=1;;;0; procs_crit=0;;;0;",
    "procs=125 ;;;0",
    "procs_warn=1 ;;;0",
    "procs_crit=0 ;;;0",
  ],
  ["check_users", "USERS OK - 0 users currently logged in |users=0;5;9;0", "users=0 ;5;9;0"],
  [
    "check_swap",
    "SWAP CRITICAL - 0% free (0MB out of 0MB) - Swap is either disabled, not present, or of zero size. |swap=0B;0;0;0;0",
    "swap=0 B;0;0;0;0",
  ],
  [
    "check_tcp",
    "TCP OK - 0.002 second response time on 127.0.0.1 port 80|time=0.002187s;1.000000;2.000000;0.000000;10.000000",
    "time=0.002187 s;1.000000;2.000000;0.000000;10.000000",
  ],
  [
    "check_dig",
    "DNS WARNING - 0.038 seconds response time (dig returned an error status)|time=0.037783s;;;0.000000",
    "time=0.037783 s;;;0.000000",
  ],
  [
    "check_file_age",
    "FILE_AGE WARNING: /etc/passwd is 1430 seconds old and 1343 bytes | age=1430s;99;999999999 size=1343B;0;0;0",
    "age=1430 s;99;999999999",
    "size=1343 B;0;0;0",
  ],
  [
    "check_apt",
    "APT CRITICAL: 121 packages available for upgrade (74 critical updates). |available_upgrades=121;;;0 critical_updates=74;;;0",
    "available_upgrades=121 ;;;0",
    "critical_updates=74 ;;;0",
  ],
  ["check_dummy 0 'x | y=1'", "OK: x | y=1", "y=1 "],
  ["check_cluster", "CLUSTER WARNING: x: 2 ok, 1 warning, 0 unknown, 1 critical"],
  ["check_ntp_time without an answer", "NTP CRITICAL: No response from NTP server"],
]

/** Of other programs, as people have shown them in public; shortened. */
const REPORTED: ReadonlyArray<Output> = [
  // Decimal commas.
  [
    "check_ntp_time in Hungarian (nagios-plugins, February 2020)",
    "NTP WARNING: Offset -0,0820441246 secs|offset=-0,082044s;0,000000;1,000000;",
  ],
  [
    "check_http in German (nagflux, March 2017)",
    "HTTP OK: HTTP/1.1 301 Moved Permanently |time=6,049175s;;;0,000000;10,000000 size=555B;;;0",
    "size=555 B;;;0",
  ],
  // Thresholds that are no ranges.
  [
    "check_cpu (icinga2, April 2022)",
    "CPU STATISTICS OK | CpuUser=30.92%;90;95;0; CpuIdle=12.47%;0,0;0; CpuSteal=0.00%;0;0;0;",
    "CpuUser=30.92 %;90;95;0",
    "CpuIdle=12.47 %;;0",
    "CpuSteal=0 %;0;0;0",
  ],
  [
    "check_snmp of two values (icinga2, October 2021)",
    "SNMP OK - ping-loss 0 ping-rtt 6410 | ping-loss=0;@1:3,@10000:50000;@4:99,@60000:100000 ping-rtt=6410;@1:3;@4:99",
    "ping-loss=0 ",
    "ping-rtt=6410 ;@1:3;@4:99",
  ],
  ["the new syntax of thresholds (pynag, May 2013)", "OK | load=20;30..50;60..100", "load=20 "],
  // Labels.
  [
    "check_redfish (July 2026)",
    "OK | 'media_life_left_drive_480GB_16G_NVMe_SSD_Slot=23:Bay=1'=100%;10;5",
    "media_life_left_drive_480GB_16G_NVMe_SSD_Slot=23:Bay=1=100 %;10;5",
  ],
  [
    "a command line as a label (icinga2, September 2015)",
    "OK | '/usr/bin/java -Dconfig.file=/opt/logging.properties -Dlimit=5 -Dmanager=Loader'=U ok=1",
    "ok=1 ",
  ],
  [
    "NSClient (graphios, June 2015)",
    "OK | 'd:\\ Used Space'=75.48Gb;90.00;95.00;0.00;100.00 '5 min avg Load'=59%;80;90;0;100",
    "d:\\ Used Space=75.48 Gb;90.00;95.00;0.00;100.00",
    "5 min avg Load=59 %;80;90;0;100",
  ],
  [
    "labels that differ beyond 64 characters (graphios, March 2015)",
    "OK | 'Intel(R) PRO/1000 MT Network Connection-QoS Packet Scheduler-0000_in_prct'=0%;8000;9000;0;100 'Intel(R) PRO/1000 MT Network Connection-QoS Packet Scheduler-0000_speed_bps'=1000000000",
    "Intel(R) PRO/1000 MT Network~llcal5~acket Scheduler-0000_in_prct=0 %;8000;9000;0;100",
    "Intel(R) PRO/1000 MT Network~upr1mn~ket Scheduler-0000_speed_bps=1000000000 ",
  ],
  [
    "spaces without quotes (check_logfiles, January 2017)",
    "OK - no errors or warnings|some space_lines=0 some space_warnings=2",
    "space_lines=0 ",
    "space_warnings=2 ",
  ],
  [
    "spaces around = (nagios-for-i, July 2021)",
    "CPU Utilization = 11.11% | 'CPU Utilization' = 11.11%;10.0;20.0",
  ],
  ["a probability (librenms, August 2024)", "OK | 'Rain probability'=80%;;", "Rain probability=80 %"],
  [
    "check_cdot_volume (February 2019)",
    "OK | 'Vol_block/block_ROOT::check_cdot_volume_usage::space_used'=52B;;;0;100",
    "Vol_block/block_ROOT::check_cdot_volume_usage::space_used=52 B;;;0;100",
  ],
  // Units.
  [
    "sensors of a switch (centreon-plugins)",
    "OK | 'sensor.dBm_TenGigabitEthernet1/1/19 Receive Power Sensor'=-30.9dBm;-9.8:-1.1;-13.8:1.8;; 'sensor.celsius_Te1/2/7'=26.4C;0.1:69.9;-4.9:74.9;; 'sensor.voltsDC_Te1/2/7'=3.28V;3.11:3.49;3.01:3.59;;",
    "sensor.dBm_TenGigabitEthernet1/1/19 Receive Power Sensor=-30.9 dBm;-9.8:-1.1;-13.8:1.8",
    "sensor.celsius_Te1/2/7=26.4 C;0.1:69.9;-4.9:74.9",
    "sensor.voltsDC_Te1/2/7=3.28 V;3.11:3.49;3.01:3.59",
  ],
  [
    "check_iftraffic (icinga2, July 2018)",
    "Average IN: 0.0000MBs (0.00%)<br>Total RX: 3469.45 MBytes|inUsage=0.00%;90;99 inBandwidth=0.0000MBs outBandwidth=0.0023MBs",
    "inUsage=0 %;90;99",
    "inBandwidth=0 MBs",
    "outBandwidth=0.0023 MBs",
  ],
  [
    "check_wmi_plus (shinken, May 2013)",
    "OK | 'Physical Memory Used'=12085620736Bytes; 'Physical Memory Utilisation'=94%;80;90;",
    "Physical Memory Used=12085620736 Bytes",
    "Physical Memory Utilisation=94 %;80;90",
  ],
  [
    "check_ups (nagios-plugins, November 2017)",
    "UPS OK - Status=Online Utility=218.8V | voltage=218800mV;;;0 battery=100%;;;0;100",
    "voltage=218800 mV;;;0",
    "battery=100 %;;;0;100",
  ],
  [
    "check_paloalto (February 2017)",
    "SESSINFO OK - Active sessions: 28330 | session=28330;40000;200000;0;524286 throughput=6139kbps;;;0",
    "session=28330 ;40000;200000;0;524286",
    "throughput=6139 kbps;;;0",
  ],
  // Texts that are no numbers.
  [
    "check_pgactivity (icinga2, March 2022)",
    "OK | 'testdb max'=Us;60;90 'postgres max'=3s;60;90",
    "postgres max=3 s;60;90",
  ],
  [
    "check_pgbackrest (October 2021)",
    "OK | full=1 latest=incr,20211003-050002F_20211008-050002I latest_age=84s",
    "full=1 ",
    "latest_age=84 s",
  ],
  [
    "check_systemd (July 2025)",
    "SYSTEMD OK - all | count_units=339 data_source=cli units_failed=0",
    "count_units=339 ",
    "units_failed=0 ",
  ],
  [
    "commas between numbers (nagios-plugins-linux, December 2015)",
    "paging OK: 0 majfault/s | vmem_pgpgin/s=0, vmem_pgfault/s=13, vmem_pgscank/s=4",
    "vmem_pgpgin/s=0 ",
    "vmem_pgfault/s=13 ",
    "vmem_pgscank/s=4 ",
  ],
  // Bars and lines.
  [
    "a bar in the text (centreon-engine, February 2019)",
    "OK: '(string1|string2)' is present in content. | 'time'=0.058s;;;0; 'size'=2646B;;;0;",
    "time=0.058 s;;;0",
    "size=2646 B;;;0",
  ],
  [
    "numbers behind the last line (check_jmx4perl, December 2011)",
    "OK - All 2 checks OK\n[1] OK memory_gc_time_base: ParNew : 2.91 GC ms/minute\n[2] OK memory_gc_time_base | 'ParNew time'=2.90657439446367ms;10000;20000 'ConcurrentMarkSweep time'=0ms;10000;20000",
    "ParNew time=0.00290657439446 s;10;20",
    "ConcurrentMarkSweep time=0 s;10;20",
  ],
  [
    "numbers on several lines (nagiosplugin, July 2015)",
    "ONLINE OK - Online is 2528\n| 'www.xxxx.com'=74;;;0 'www.yyyy.com'=3;;;0\n'www.ttttt.com'=80;;;0",
    "www.xxxx.com=74 ;;;0",
    "www.yyyy.com=3 ;;;0",
    "www.ttttt.com=80 ;;;0",
  ],
  [
    "a second line without a bar (check-vmware, September 2021)",
    "OK |'datastore_usage'=86.31%;90;95;;\n'datastore_storage_remaining'=3640654823424B;;;0;",
    "datastore_usage=86.31 %;90;95",
  ],
  [
    "text and numbers in turn (icinga2, July 2021)",
    "OK - 8 counters checked| 'kpi_avg_cpu_occ'=37\n[0] rpn_cap_snd_idp_sms OK: 741\n[1] rpn_diameter_snd_acr OK: 9451 | 'kpi_avg_mem_util'=52\n'kpi_max'=60",
    "kpi_avg_cpu_occ=37 ",
    "kpi_avg_mem_util=52 ",
    "kpi_max=60 ",
  ],
  ["no performance data behind a bar", "OK - a | b, see http://x/?a=1|2"],
]

/** Of further packages of Debian 12, run in November 2026. */
const FURTHER: ReadonlyArray<Output> = [
  [
    "centreon_plugins.pl --mode=connections of nginx",
    "OK: Connections Reading: 1, Accepted: 37.00/s | 'reading'=1connections;;;0; 'accepted'=37.00connections/s;;;0;",
    "reading=1 connections;;;0",
    "accepted=37 connections/s;;;0",
  ],
  [
    "check_multi, which states the name of a check once",
    "OK - 4 plugins checked\n[ 4] load LOAD OK |check_multi::check_multi::plugins=4 time=0.331946 web_a::check_http::time=0.000831s;;;0.000000;10.000000 size=416B;;;0; tcp::check_tcp::time=0.000147s;;;0.000000;10.000000",
    "check_multi::check_multi::plugins=4 ",
    "check_multi::check_multi::time=0.331946 ",
    "web_a::check_http::time=0.000831 s;;;0.000000;10.000000",
    "web_a::check_http::size=416 B;;;0",
    "tcp::check_tcp::time=0.000147 s;;;0.000000;10.000000",
  ],
  [
    "one label in several units, as check_pgactivity states them",
    "OK | shop=25 shop=1.5MB shop=12% shop=3s shop=9 a::b=1 c=2",
    "shop=25 ",
    "shop=1572864 B",
    "shop=12 %",
    "shop=3 s",
    "a::b=1 ",
    "c=2 ",
  ],
  [
    "check_haproxy_stats of nagios-plugins-contrib 42, with semicolons alone between numbers",
    "Check haproxy CRITICAL - server: app:b is DOWN (check status: connection error); |web-FRONTEND=0;80;90;0;100;app-BACKEND=0;8;9;0;10;stats-BACKEND=1;8;9;0;10;",
    "web-FRONTEND=0 ;80;90;0;100",
    "app-BACKEND=0 ;8;9;0;10",
    "stats-BACKEND=1 ;8;9;0;10",
  ],
  [
    "check_swap -s of nagios-plugins-contrib 42, with a comma",
    "madrisan_swap OK: 0.00% (0 kB) used | swap_free=0kB swap_cached=4kB, swap_pageins/s=0",
    "swap_free=0 B",
    "swap_cached=4096 B",
    "swap_pageins/s=0 ",
  ],
  [
    "check_icmp 2.3.3 without an answer, which states times of 0",
    "CRITICAL - 10.9.9.2: rta nan, lost 100%|rta=0.000ms;200.000;500.000;0; pl=100%;40;80;; rtmax=0.000ms;;;; rtmin=0.000ms;;;; ",
    "pl=100 %;40;80",
  ],
  [
    "check_rta_multi 2.3.3, where one of two hosts answers",
    "CRITICAL - 10.9.9.2: rta nan, lost 100% :: 127.0.0.1: rta 0.017ms, lost 0%|10.9.9.2rta=0.000ms;200.000;500.000;0; 10.9.9.2pl=100%;40;80;; 127.0.0.1rta=0.017ms;100.000;200.000;0; 127.0.0.1pl=0%;10;20;; 127.0.0.1rtmin=0.000ms;;;;",
    "10.9.9.2pl=100 %;40;80",
    "127.0.0.1rta=0.000017 s;0.1;0.2;0",
    "127.0.0.1pl=0 %;10;20",
    "127.0.0.1rtmin=0 s",
  ],
  [
    "check_memory of nagios-plugins-contrib 42",
    "memory CRITICAL: 6.07% (1497400 kB) used | mem_total=24684092kB mem_used=1497400kB;2468409;1234204;0;24684092",
    "mem_total=25276510208 B",
    "mem_used=1533337600 B;2527650816;1263824896;0;25276510208",
  ],
  [
    "check_snmp 2.3.3 with a label that has quotes of its own",
    `SNMP CRITICAL - it's = ok *437* | "it's = ok"=437;@10:20;~:5`,
  ],
  [
    "check_snmp 2.3.3 of two gauges and a counter, whose bounds are of its count",
    "SNMP CRITICAL - Load 1 *437* Load 5 *441* in 2771956456 | 'Load 1'=437;500;1000: 'Load 5'=441;400;@800:900 in=2771956456c;10;20;0",
    "Load 1=437 ;500;1000:",
    "Load 5=441 ;400;@800:900",
    "in=2771956456 /s",
  ],
  [
    "check_pgactivity 2.6 -s backends_status, whose bounds have units",
    "POSTGRES_BACKENDS_STATUS OK: 1 backend connected | active=1 'oldest idle in transaction'=0s;10m;30m;0;100 'waiting for lock'=0;5;20;0;100",
    "active=1 ",
    "oldest idle in transaction=0 s;;;0;100",
    "waiting for lock=0 ;5;20;0;100",
  ],
  [
    "check_pgactivity 2.6 -s custom_query, with texts as values",
    "POSTGRES_CUSTOM_QUERY OK: Custom query ok | ?column?=a b ?column?=5 ?column?=s ?column?=7",
    "?column?=5 ",
  ],
  [
    "check_pgsql 2.3.3 in German, -q 'select 12.5'",
    " OK - database postgres (0,016090 sec.)|time=0,016090s;2,000000;8,000000;0,000000\nQUERY WARNING - 'select 12.5' returned 12,000000|query=12,000000;10.5;20;;",
  ],
  [
    "check_snmp_time of nagios-snmp-plugins 2.1, with times as texts",
    "127.0.0.1 clock is accurate to the second : OK | local=2026-11-28_13:31:04 remote=2026-11-28_13:31:04 offset=0",
    "offset=0 ",
  ],
]

/** The headlines of further packages of Debian 12, run in November 2026. */
const HEADLINES: ReadonlyArray<readonly [from: string, output: string, headline: string]> = [
  [
    "check_entropy of nagios-plugins-contrib 42, with a space before its unit",
    "WARNING: Too little entropy in the pool (min: 256, max: 256 in 10 reads)|entropy=256 bytes",
    "WARNING: Too little entropy in the pool (min: 256, max: 256 in 10 reads)",
  ],
  [
    "check_pgactivity 2.6 -s custom_query, with texts as values",
    "POSTGRES_CUSTOM_QUERY OK: Custom query ok | ?column?=a b ?column?=5 ?column?=s ?column?=7",
    "POSTGRES_CUSTOM_QUERY OK: Custom query ok",
  ],
  [
    "check_postgres 2.25 that NRPE cut",
    "POSTGRES_INDEX_SIZE OK: largest is 456 kB | time=0.12s pg_toast_1=8192B;1048576;104857600 items_pkey=4B pg_toast",
    "POSTGRES_INDEX_SIZE OK: largest is 456 kB",
  ],
  [
    "pmp-check-mysql-deadlocks of percona-nagios-plugins 1.1, behind what mysql says",
    "--------------\nSELECT COUNT(*) FROM percona.deadlocks\n--------------\n\nERROR 1146 (42S02) at line 1: Table 'percona.deadlocks' doesn't exist\nUNK could not count deadlocks",
    "UNK could not count deadlocks",
  ],
  [
    "pmp-check-mongo.py of percona-nagios-plugins 1.1, which Python 3 cannot read",
    '  File "/usr/lib/nagios/plugins/pmp-check-mongo.py", line 195\n    data = self.connection\nTabError: inconsistent use of tabs and spaces in indentation',
    "TabError: inconsistent use of tabs and spaces in indentation",
  ],
  [
    "a check in Node.js 24 that throws",
    '/srv/check.js:3\nthrow new Error("no route")\n^\n\nError: no route\n    at Object.<anonymous> (/srv/check.js:3:7)\n\nNode.js v24.22.3',
    "Error: no route",
  ],
  [
    "two errors in Python 3.11",
    'Traceback (most recent call last):\n  File "a.py", line 2, in <module>\nKeyError: 1\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File "a.py", line 4, in <module>\nStopIteration',
    "StopIteration",
  ],
  ["a report under a drawn line", "=====\nBackup of web-1\n=====\nall is well", "Backup of web-1"],
  [
    "check_http 2.3.3 that cannot connect",
    "connect to address 127.0.0.1 and port 21199: Connection refused\nHTTP CRITICAL - Unable to open TCP socket",
    "connect to address 127.0.0.1 and port 21199: Connection refused",
  ],
  ["words of a log behind a bar", "ERROR | user=12 failed to log in", "ERROR | user=12 failed to log in"],
]

/** As the Monitoring Plugins' guidelines allow them. */
const ALLOWED: ReadonlyArray<Output> = [
  [
    "quotes and umlauts",
    "OK | 'Bob''s Anteil'=5MiB;@1:2;~:9 größe=5KB 'Übertragung (eth0)'=3packets",
    "Bob's Anteil=5242880 B;@1048576:2097152;~:9437184",
    "größe=5120 B",
    "Übertragung (eth0)=3 packets",
  ],
  [
    "a counter",
    "SNMP OK - 4294967295 | IF-MIB::ifInOctets.1=4294967295c",
    "IF-MIB::ifInOctets.1=4294967295 /s",
  ],
]

const DIGITS = 12

describe.each([
  ["Debian's plugins", DEBIAN],
  ["other programs", REPORTED],
  ["further packages", FURTHER],
  ["the guidelines", ALLOWED],
])("outputs of %s", (_whose, outputs) => {
  it.each(outputs)("%s", (_from, output, ...numbers) => {
    assert.deepStrictEqual(
      readingsOf({ output }).map((reading) => {
        const { name, unit, value } = reading
        const { crit, max, min, warn } = boundsOf(reading)
        return [`${name}=${Number(value.toPrecision(DIGITS))} ${unit}`, warn, crit, min, max]
          .join(";")
          .replace(/;+$/, "")
      }),
      numbers,
    )
  })
})

describe("headlines of further packages", () => {
  it.each(HEADLINES)("%s", (_from, output, headline) => assert.strictEqual(headlineOf(output), headline))
})
