import { assert, describe, it } from "@effect/vitest"
import { readingsOf } from "@tocsin/core/numbers/readings"

/** Outputs of programs, and `name=value unit` of each number. */
const OUTPUTS: ReadonlyArray<readonly [from: string, output: string, ...numbers: ReadonlyArray<string>]> = [
  // monitoring-plugins 2.3.3 of Debian 12, run in November 2026
  [
    "check_load -r",
    "LOAD OK - scaled load average: 4.54 - total load average: 9.09|load1=9.090;;;0; scaled_load1=4.545;5.000;9.000;0; ",
    "load1=9.09 ",
    "scaled_load1=4.545 ",
  ],
  ["check_users", "USERS OK - 0 users currently logged in |users=0;5;9;0", "users=0 "],
  ["check_swap", "SWAP CRITICAL - 0% free (0MB out of 0MB) |swap=0B;0;0;0;0", "swap=0 B"],
  [
    "check_tcp",
    "TCP OK - 0.000 second|time=0.000102s;1.000000;2.000000;0.000000;10.000000",
    "time=0.000102 s",
  ],
  [
    "check_file_age",
    "FILE_AGE OK: 49 bytes | age=29794s;99999999;999999999 size=49B;0;0;0",
    "age=29794 s",
    "size=49 B",
  ],
  [
    "check_apt",
    "APT CRITICAL: 121 packages. |available_upgrades=121;;;0 critical_updates=74;;;0",
    "available_upgrades=121 ",
    "critical_updates=74 ",
  ],
  [
    "check_icmp",
    "OK - 127.0.0.1: rta 0.008ms|rta=0.008ms;200.000;500.000;0; pl=0%;40;80;; rtmax=0.031ms;;;; rtmin=0.002ms;;;; ",
    "rta=0.000008 s",
    "pl=0 %",
    "rtmax=0.000031 s",
    "rtmin=0.000002 s",
  ],
  [
    "check_disk -P",
    "DISK OK - free space: /dev/shm 23454MiB (97% inode=99%);| /dev/shm=682622976B;25265438720;25270681600;0;25275924480 '/dev/shm (inodes)'=11566;;;0;3085456",
    "/dev/shm=682622976 B",
    "/dev/shm (inodes)=11566 ",
  ],
  [
    "check_disk of two mounts, in long text",
    "DISK OK | /=1MB;2;3\n/ is fine\n/home is fine | /home=2MB;2;3\n/srv=3MB",
    "/=1048576 B",
    "/home=2097152 B",
    "/srv=3145728 B",
  ],
  [
    "check_curl",
    "HTTP OK: HTTP/1.1 200 OK |time=0.003967s;;;0.000000;10.000000 size=539B;;;0;",
    "time=0.003967 s",
    "size=539 B",
  ],
  [
    "check_ping without an answer",
    "PING CRITICAL - Packet loss = 100%|rta=500.000000ms;100;500;0 pl=100%;5;50;0",
    "rta=0.5 s",
    "pl=100 %",
  ],
  // As their documentation and public reports have them
  [
    "check_snmp",
    "SNMP OK - 4294967295 | IF-MIB::ifInOctets.1=4294967295c",
    "IF-MIB::ifInOctets.1=4294967295 /s",
  ],
  [
    "NSClient++",
    "OK All drives ok|'C:\\ used'=44.25GB;0;0;0;59.99 'C:\\ used %'=74%;80;90",
    "C:\\ used=47513075712 B",
    "C:\\ used %=74 %",
  ],
  [
    "check_nwc_health",
    "OK - up | 'Gi1/0/1_usage_in'=0.02%;80;90;0;100 'Gi1/0/1_traffic'=1234.5bps",
    "Gi1/0/1_usage_in=0.02 %",
    "Gi1/0/1_traffic=1234.5 bps",
  ],
  ["check_multi", "OK - 2 plugins|'load::check_load::load1'=0.1;5;10;0", "load::check_load::load1=0.1 "],
  ["a quote in a label", "OK | 'Bob''s share'=5MiB;@1:2;~:9", "Bob's share=5242880 B"],
  [
    "umlauts",
    "OK | größe=5KB 'Übertragung (eth0)'=3packets signal=-67dBm temp=21.5C",
    "größe=5120 B",
    "Übertragung (eth0)=3 packets",
    "signal=-67 dBm",
    "temp=21.5 C",
  ],
  ["decimal commas of a German locale", "OK | temp=21,5C feuchte=40%", "feuchte=40 %"],
  ["values that are unknown", "UNKNOWN | rta=U pl=U%;5 left=nan right=1e400 both=1e3", "both=1000 "],
  ["no performance data behind a bar", "OK - a | b, see http://x/?a=1|2"],
]

describe("outputs of real programs", () => {
  it.each(OUTPUTS)("of %s", (_from, output, ...numbers) => {
    assert.deepStrictEqual(
      readingsOf({ output }).map(
        ({ name, unit, value }) => `${name}=${Number(value.toPrecision(12))} ${unit}`,
      ),
      numbers,
    )
  })
})
