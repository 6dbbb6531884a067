import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { policySchema } from "@tocsin/adapter-http/handlers/policyUseCases"
import { readPolicyText } from "@tocsin/adapter-http/policy/readPolicyText"
import { NotifierKind } from "@tocsin/contract/formats/Status"
import { Ajv2020 } from "ajv/dist/2020.js"
import { parse } from "yaml"

const matches = new Ajv2020({ strict: true, strictTypes: false, strictTuples: false }).compile(policySchema())

const readPage = (name: string) => readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), "utf8")
const page = readPage("policy")
const examples = Array.from(page.matchAll(/^```yaml[^\n]*\n(.*?)^```/gmsu), ([, text = ""]) => text)

describe("the JSON Schema of a policy", () => {
  it("admits every example of the page", () => {
    assert.isAbove(examples.length, 3)
    for (const text of examples)
      assert.isTrue(matches(parse(text)), `${text}\n${JSON.stringify(matches.errors)}`)
  })

  it.each([
    { colour: "red" },
    { routes: [{ to: [] }] },
    { routes: [{ to: "chat" }] },
    { routes: [{ steps: [{ after: "1m" }] }] },
    { receivers: { Chat: { kind: "debug" } } },
    { receivers: { chat: { kind: "carrier pigeon" } } },
    { receivers: { chat: { kind: "messenger", concurrency: 65 } } },
    { receivers: { chat: { kind: "messenger", digest: { over: 0 } } } },
    { windows: [{ name: "w", cron: "0 0 * * *", tz: "UTC", match: [] }] },
    { freshness: [{ match: ["check_id = a"], every: "5m", severity: "bad" }] },
  ])("refuses $0, as Tocsin does", (policy) => {
    assert.isFalse(matches(policy))
    const read = readPolicyText(JSON.stringify(policy), {
      notifiers: NotifierKind.literals,
      keepsNotifiers: false,
    })
    assert.strictEqual(read._tag, "Failure")
  })

  it("names no key that the page leaves out", () => {
    const keys = new Set<string>()
    const collect = (node: unknown): void => {
      if (typeof node !== "object" || node === null) return
      for (const [name, part] of Object.entries(node)) {
        if (name === "properties") for (const key of Object.keys(Object(part))) keys.add(key)
        collect(part)
      }
    }
    collect(policySchema())
    assert.isAbove(keys.size, 20)
    const pages = page + readPage("notifications") + readPage("watches")
    const isNamed = (key: string) => pages.includes(`\`${key}`) || pages.includes(`${key}:`)
    const absent = Array.from(keys).filter(
      (key) => !isNamed(key) && !isNamed(key.replace(/(file|env)$/, "…")),
    )
    assert.deepStrictEqual(absent, [])
  })
})
