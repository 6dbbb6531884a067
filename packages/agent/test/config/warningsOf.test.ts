import { assert, describe, it } from "@effect/vitest"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AgentHost } from "../commands/AgentHost.ts"
import { readConfig } from "../../src/config/readConfig.ts"
import { warningsOf } from "../../src/config/warningsOf.ts"

/** A host whose folder has programs of these names and modes. */
const warnings = (check: string, programs: Readonly<Record<string, number>> = {}): ReadonlyArray<string> => {
  const folder = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
  mkdirSync(join(folder, "bin"))
  for (const [name, mode] of Object.entries(programs)) {
    writeFileSync(join(folder, "bin", name), "")
    chmodSync(join(folder, "bin", name), mode)
  }
  const file = join(folder, "config.yaml")
  writeFileSync(file, `server: http://a\ndefaults: { env: { PATH: bin } }\nchecks:\n  one: ${check}\n`)
  const { config, problems } = readConfig(file)
  assert.deepStrictEqual(problems, [])
  const found = config === undefined ? [] : warningsOf(config, folder)
  rmSync(folder, { recursive: true })
  return found
}

describe("warnings of a configuration", () => {
  it.each<[string, ReadonlyArray<RegExp>]>([
    ["{ command: [check_it, -w, '5'] }", []],
    ["{ report_only: true, cron: '0 3 * * 1-5', tz: UTC }", []],
    ["{ report_only: true, cron: '0 3 */2 * *', tz: UTC }", [/^checks\.one\.cron has a step in its days/]],
    ["{ report_only: true, cron: '0 3 * * *', tz: EST }", [/^checks\.one\.tz knows no summer time/]],
    ["{ command: [bin/check_it], every: 30s, timeout: 30s }", []],
    ["{ command: [check_none] }", [/^checks\.one\.command: the program check_none does not exist$/]],
    ["{ command: [bin/check_none] }", [/^checks\.one\.command: the program bin\/check_none does not exist$/]],
    ["{ command: [check_text] }", [/^checks\.one\.command: check_text is not executable$/]],
    [
      "{ command: [check_icmp] }",
      [/^checks\.one\.command: check_icmp takes other rights: .*NoNewPrivileges/],
    ],
    ["{ command: [sudo, check_it] }", [/^checks\.one\.command: sudo takes other rights/]],
    ["{ shell: 'true; /usr/bin/sudo check_it || sudo x' }", [/^checks\.one\.shell calls sudo: /]],
    ["{ shell: 'echo pseudo' }", []],
    [
      "{ shell: x, every: 10s, timeout: 11s }",
      [/^checks\.one\.timeout \(11s\) is longer than every \(10s\)/],
    ],
    [
      "{ http: { url: 'http://a', warning: 5, critical: 1 } }",
      [/^checks\.one\.http: warning is beyond critical/],
    ],
    ["{ http: { url: 'http://a', warning: 1, critical: 5 } }", []],
    ["{ http: { url: 'http://a', warning: 5, critical: 5 } }", []],
    [
      "{ http: { url: 'http://a', days: { warning: '7:', critical: '21:' } } }",
      [/^checks\.one\.http\.days: /],
    ],
    [
      "{ disk: { warning: '10:', critical: '5:', inodes: { warning: '5:', critical: '10:' } } }",
      [/disk\.inodes: /],
    ],
    ["{ load: { warning: '8,6,4', critical: '4,3,2' } }", [/^checks\.one\.load: /]],
    ["{ load: { warning: '4,3,2', critical: 8 } }", []],
    ["{ tcp: { host: a, port: 1, warning: '@1:5', critical: '@0:9' } }", [/^checks\.one\.tcp: /]],
    ["{ tcp: { host: a, port: 1, warning: '1:5', critical: '0:9' } }", []],
    ["{ tcp: { host: a, port: 1, critical: 5 } }", []],
    [
      "{ file: { path: /tmp/backup.done } }",
      [/^checks\.one\.file\.path: .* \/tmp .*\(PrivateTmp\): use another path/],
    ],
    ["{ unix: { path: /var/tmp/.s.PGSQL.5432 } }", [/^checks\.one\.unix\.path: .*PrivateTmp/]],
    ["{ log: { file: /dev/kmsg, match: x } }", [/^checks\.one\.log\.file: .*ProtectKernelLogs/]],
    ["{ http: { url: 'http://a', socket: /tmp/a.sock, text: /tmp/b } }", [/^checks\.one\.http\.socket: /]],
    ["{ command: [check_it, -f, /tmp/backup.done] }", [/^checks\.one\.command: .*PrivateTmp/]],
    ["{ command: [check_it, '--file=/tmp/backup.done'] }", [/^checks\.one\.command: .*PrivateTmp/]],
    ["{ command: [check_it, '-c', '/tmp/a', /tmp/a, /var/tmp/b] }", [/^checks\.one\.command: .*PrivateTmp/]],
    ["{ shell: 'test -f /tmp/x' }", [/^checks\.one\.shell: .*PrivateTmp/]],
    [`{ shell: 'A="/tmp/x"; dmesg </dev/kmsg' }`, [/^checks\.one\.shell: .*PrivateTmp/, /ProtectKernelLogs/]],
    ["{ shell: 'df > /tmp/x && grep sda </tmp/x' }", []],
    ["{ shell: 'cat /srv/tmp/x /tmpfiles' }", []],
    ["{ file: { path: /tmpfiles/a } }", []],
    ["{ mount: { mounts: /tmp } }", []],
  ])("%s", (check, expected) => {
    const found = warnings(check, { check_it: 0o755, check_text: 0o644, check_icmp: 0o4755, sudo: 0o4755 })
    assert.lengthOf(found, expected.length, found.join("\n"))
    for (const [index, words] of expected.entries()) assert.match(found[index] ?? "", words)
  })

  it("are printed by tocsin-agent check, which finds no problem", () => {
    using host = new AgentHost()
    writeFileSync(
      join(host.folder, "config.yaml"),
      "server: http://a\nchecks:\n  one: { command: [no-such] }\n",
    )
    const { status, stdout, stderr } = host.call("check", [])
    assert.deepStrictEqual(
      [status, stdout],
      [0, `${join(host.folder, "config.yaml")}: 1 check, no problems\n`],
    )
    assert.strictEqual(
      stderr,
      "tocsin-agent: warning: checks.one.command: the program no-such does not exist\n",
    )
  })
})
