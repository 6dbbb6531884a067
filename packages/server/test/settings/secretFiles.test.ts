import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import process from "node:process"
import { checkedSettings } from "@tocsin/server/settings/checkedSettings"
import { definitions } from "@tocsin/server/settings/Settings"
import { settingsText } from "@tocsin/server/settings/settingsText"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"

const isRoot = process.getuid?.() === 0

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tocsin-settings-"))
})
afterAll(() => rmSync(folder, { recursive: true }))

const fileWith = (text: string): string => {
  const path = join(folder, `secret-${text.length}`)
  writeFileSync(path, text)
  return path
}

/** The complaint about these settings. */
const complaint = (environment: Readonly<Record<string, string>>): string => {
  const read = checkedSettings(environment)
  assert(Result.isFailure(read))
  return read.failure.problems.join("\n")
}

const accepted = (environment: Readonly<Record<string, string>>) =>
  Result.getOrThrow(checkedSettings(environment))

describe("secrets in files", () => {
  it("count like their variables, without the last line end", () => {
    const settings = accepted({
      SERVICE_AUTH_TOKEN_FILE: fileWith("first,second\n"),
      DATABASE_URL_FILE: ` ${fileWith("postgres://tocsin:word@db.example/tocsin\r\n")} `,
    })
    assert.deepStrictEqual(settings.SERVICE_AUTH_TOKEN?.map(Redacted.value), ["first", "second"])
    assert(settings.DATABASE_URL?.kind === "postgres")
    assert.strictEqual(Redacted.value(settings.DATABASE_URL.url), "postgres://tocsin:word@db.example/tocsin")
  })

  it("do not count if their variable is empty", () => {
    const settings = accepted({ SERVICE_AUTH_TOKEN_FILE: " ", SERVICE_AUTH_TOKEN: "direct" })
    assert.deepStrictEqual(settings.SERVICE_AUTH_TOKEN?.map(Redacted.value), ["direct"])
  })

  it("cannot be combined with the setting itself", () => {
    assert.strictEqual(
      complaint({ SERVICE_AUTH_TOKEN: "direct", SERVICE_AUTH_TOKEN_FILE: fileWith("in a file") }),
      "SERVICE_AUTH_TOKEN and SERVICE_AUTH_TOKEN_FILE are both set; unset one of them",
    )
  })

  it("are reported if unreadable, without the path, which may be the secret", () => {
    assert.strictEqual(
      complaint({ SERVICE_KEY_PEPPER_FILE: join(folder, "absent") }),
      "SERVICE_KEY_PEPPER_FILE names a file that does not exist: correct the path, or mount the file",
    )
    assert.strictEqual(
      complaint({ SERVICE_KEY_PEPPER_FILE: folder }),
      "SERVICE_KEY_PEPPER_FILE names a folder, but must name a file",
    )
    assert.strictEqual(
      complaint({ SERVICE_KEY_PEPPER_FILE: join(fileWith("x"), "below") }),
      "SERVICE_KEY_PEPPER_FILE names a file that cannot be read (ENOTDIR): check its disk",
    )
  })

  it("are reported if they have no end", () => {
    assert.strictEqual(
      complaint({ SERVICE_KEY_PEPPER_FILE: "/dev/zero" }),
      "SERVICE_KEY_PEPPER_FILE names a file that is larger than 64 KiB: correct the path",
    )
  })

  it.skipIf(isRoot)(
    `are reported if permission is missing${isRoot ? " (skipped: root may read everything)" : ""}`,
    () => {
      const path = fileWith("kept from us")
      chmodSync(path, 0o000)
      assert.strictEqual(
        complaint({ SERVICE_KEY_PEPPER_FILE: path }),
        "SERVICE_KEY_PEPPER_FILE names a file that Tocsin's user cannot read: make that user its owner",
      )
    },
  )

  it("are reported if empty or invalid", () => {
    assert.strictEqual(
      complaint({ SERVICE_AUTH_TOKEN_FILE: fileWith("\n\n") }),
      "SERVICE_AUTH_TOKEN_FILE names an empty file: write the setting into it, or unset SERVICE_AUTH_TOKEN_FILE",
    )
    for (const url of ["mysql://user:word@db.example", "postgres://user:wo/rd@db.example/tocsin"]) {
      assert.strictEqual(
        complaint({ DATABASE_URL_FILE: fileWith(url) }),
        "the file that DATABASE_URL_FILE names is set to a value that is not shown, but must be unset (SQLite in tocsin.db of SERVICE_DATA_DIR), memory: or postgres://user:password@host:port/database, with special characters percent-encoded",
      )
    }
  })

  it("are accepted for every secret, and for nothing else", () => {
    const help = settingsText()
    for (const [name, setting] of Object.entries(definitions)) {
      const isSecret = "isSecret" in setting
      assert.strictEqual(help.includes(`or ${name}_FILE: the path of a file that holds it`), isSecret, name)
      const read = checkedSettings({ [`${name}_FILE`]: join(folder, "absent") })
      assert.strictEqual(Result.isFailure(read), isSecret, name)
    }
  })
})
