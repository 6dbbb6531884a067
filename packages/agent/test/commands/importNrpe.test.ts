import { assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import fc from "fast-check"
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { problemText } from "../../src/config/Reader.ts"
import { convertNrpe, shellWords } from "../../src/commands/importNrpe.ts"

const converted = (files: Readonly<Record<string, string>>) => {
  const folder = mkdtempSync(join(tmpdir(), "tocsin-agent-"))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  const { checks, defaults, problems } = convertNrpe(join(folder, "nrpe.cfg"))
  rmSync(folder, { recursive: true })
  return {
    defaults,
    checks: Object.fromEntries(checks),
    problems: problems.map((one) => problemText(one).replaceAll(`${folder}/`, "")),
  }
}

describe("an nrpe.cfg", () => {
  it("becomes checks, with its includes, and a report of what it cannot be", () => {
    const { checks, defaults, problems } = converted({
      "nrpe.cfg": [
        "# A comment",
        "server_port=5666",
        "command_timeout=120",
        "command[users]=/usr/lib/nagios/plugins/check_users -w 5 -c 10",
        "command[disk a]=/usr/lib/nagios/plugins/check_disk -w '20%' \\",
        "  -c 10% -p /",
        "command[old]=/usr/local/bin/check_old | grep -v x",
        "command[args]=/usr/lib/nagios/plugins/check_load -w $ARG1$ -c $ARG2$",
        "command[empty]=",
        "nonsense",
        "colour=red",
        "include=missing.cfg",
        "include=nrpe_local.cfg",
        "include_dir=nrpe.d",
      ].join("\n"),
      "nrpe_local.cfg": "command[users]=/bin/users\ninclude=nrpe.cfg\n",
      "nrpe.d/b/web.cfg": "command[web]=/usr/lib/nagios/plugins/check_http -H localhost\n",
      "nrpe.d/ignored.txt": "command[no]=no\n",
    })
    assert.deepStrictEqual(defaults, { timeout: "2m" })
    assert.deepStrictEqual(checks, {
      users: { command: ["/bin/users"] },
      "disk-a": { command: ["/usr/lib/nagios/plugins/check_disk", "-w", "20%", "-c", "10%", "-p", "/"] },
      old: { shell: "/usr/local/bin/check_old | grep -v x" },
      web: { command: ["/usr/lib/nagios/plugins/check_http", "-H", "localhost"] },
    })
    assert.deepStrictEqual(problems, [
      "nrpe.cfg:10: is no setting: expected name=value",
      "nrpe.cfg:12: missing.cfg cannot be read (ENOENT)",
      "nrpe.cfg:5: command[disk a] is called disk-a now",
      "nrpe.cfg:8: command[args] takes $ARG1$, $ARG2$ from the caller: write its command with the arguments themselves",
      "nrpe.cfg:9: command[empty] has no command",
      "nrpe.cfg:11: colour has no counterpart in the agent",
      "nrpe_local.cfg:1: command[users] is there already: the later one counts, as in NRPE",
    ])
  })

  it("ends its commands when NRPE would, also where it does not say so", () => {
    assert.deepStrictEqual(converted({ "nrpe.cfg": "command[a]=/bin/a\n" }).defaults, { timeout: "1m" })
  })

  it("leaves what only a shell has to a shell", () => {
    const { checks } = converted({
      "nrpe.cfg": "command[a]=exit 0\ncommand[b]=exec /bin/b 1\ncommand[c]=true\n",
    })
    assert.deepStrictEqual(checks, {
      a: { shell: "exit 0" },
      b: { shell: "exec /bin/b 1" },
      c: { command: ["true"] },
    })
  })

  it("runs its commands with a prefix if it has one", () => {
    const { checks } = converted({ "nrpe.cfg": "command[a]=/bin/a 'b c'\ncommand_prefix=/usr/bin/sudo\n" })
    assert.deepStrictEqual(checks, { a: { command: ["/usr/bin/sudo", "/bin/a", "b c"] } })
  })
})

describe("the words of a command line", () => {
  it("are those of a shell, wherever none is needed", () => {
    const part = fc.constantFrom(
      "a",
      "B",
      "1",
      "-",
      "/",
      "%",
      "=",
      " ",
      "  ",
      "'",
      '"',
      "\\",
      "é",
      "$x",
      "*",
      ";",
      "~",
    )
    const lines = fc.uniqueArray(fc.array(part, { maxLength: 12 }), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(lines, (drawn) => {
        const all = drawn.map((parts) => `x${parts.join("")}`)
        const simple = all.filter((line) => shellWords(line) !== undefined)
        // One shell for all lines: each word ends with \1, each line with \2.
        const script = simple.map((line) => `w ${line}`).join("\n")
        const said = execFileSync("sh", ["-c", `w() { printf '%s\\001' "$@"; printf '\\002'; }\n${script}`], {
          encoding: "utf8",
        })
        const expected = said
          .split("\u0002")
          .slice(0, -1)
          .map((line) => line.split("\u0001").slice(0, -1))
        assert.deepStrictEqual(simple.map(shellWords), expected)
      }),
      { numRuns: propertyRuns(10) },
    )
  })
})
