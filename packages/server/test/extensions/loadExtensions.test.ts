import { execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  chownSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import process from "node:process"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { loadExtensions } from "../../src/extensions/loadExtensions.ts"

const CASES = fileURLToPath(new URL("loadCases.mjs", import.meta.url))

interface Loaded {
  readonly problems: ReadonlyArray<string>
  readonly notifiers: ReadonlyArray<string>
  readonly storage: string | null
  readonly database: string | null
}

const NOTIFIER = `{ name: "pager", send: async () => {} }`
const OPENS = `{ name: "a store", open: async () => ({ load: () => [], write: async () => {} }) }`
const giving = (content: string): string => `export default { ${content} }\n`

const FILES: Readonly<Record<string, string>> = {
  "pager.mjs": giving(`notifiers: [${NOTIFIER}]`),
  "again.mjs": giving(`notifiers: [${NOTIFIER}]`),
  "store.mjs": giving(`storage: ${OPENS}`),
  "other.mjs": giving(`storage: ${OPENS}`),
  "shop.mjs": giving(
    `storage: { kind: "postgres", name: "PostgreSQL", url: () => "postgres://a:b@db.example/c" }`,
  ),
  "debug.mjs": giving(`notifiers: [{ name: "debug", send: () => {} }]`),
  "webhook.mjs": giving(`notifiers: [{ name: "webhook", send: () => {} }]`),
  "name.mjs": giving(`notifiers: [{ name: "Matrix room", send: () => {} }]`),
  "form.mjs": giving(`notifier: ${NOTIFIER}`),
  "list.mjs": giving(`notifiers: ${NOTIFIER}`),
  "closed.mjs": giving(`storage: { name: "a store" }`),
  "array.mjs": `export default [${NOTIFIER}]\n`,
  "loops.mjs": `for (;;);\n`,
  "named.mjs": `export const notifiers = [${NOTIFIER}]\n`,
  "throws.mjs": `throw new Error("the pager's address is missing: set PAGER_URL")\n`,
  "text.mjs": `throw "no"\n`,
  "hangs.mjs": `await new Promise(() => {})\nexport default {}\n`,
  "syntax.mjs": `export default {{\n`,
  "getter.mjs": `export default { get notifiers() { throw new Error("no address") } }\n`,
  "proxy.mjs": `export default { notifiers: [new Proxy({}, { get() { throw Object.create(null) } })] }\n`,
  "then.mjs": `export const then = (resolve) => resolve(undefined)\n`,
  "promise.mjs": `export default Promise.resolve({ notifiers: [${NOTIFIER}] })\n`,
  "nothing.mjs": `throw Object.create(null)\n`,
  "imports.mjs": `import "./shared.mjs"\nexport default {}\n`,
  "shared.mjs": `export {}\n`,
  "node_modules/tocsin-pager/package.json": `{ "type": "module", "exports": { ".": { "import": "./main.js" } } }`,
  "node_modules/tocsin-pager/main.js": giving(`notifiers: [${NOTIFIER}]`),
  "open/pager.mjs": giving(`notifiers: [${NOTIFIER}]`),
  "lamp/package.json": `{ "type": "module", "exports": "./main.js" }`,
  "lamp/main.js": giving(`notifiers: [${NOTIFIER}]`),
  "linking.mjs": `import "tocsin-lamp"\nexport default {}\n`,
  "path.mjs": `import "./requires.cjs"\nexport default {}\n`,
  "requires.cjs": `require("./100%.cjs")\n`,
  "100%.cjs": "",
  "loose/package.json": `{ "type": "module", "exports": "./main.js" }`,
  "called.mjs": `export default { storage: () => ({}) }\n`,
  "object.mjs": `throw { address: "missing" }\n`,
  "loose/main.js": giving(""),
}

describe("the modules of SERVICE_EXTENSIONS", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "tocsin-extensions-")))
  const at = (name: string) => join(folder, name)
  const loaded = new Map<string, Loaded>()
  const cases = [
    "pager store shop debug webhook name form list closed named array throws text hangs syntax imports absent getter proxy then promise nothing linking path called object",
  ].flatMap((names) => names.split(" ").map((name) => ({ SERVICE_EXTENSIONS: at(`${name}.mjs`) })))
  const others: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "a package": { SERVICE_EXTENSIONS: "tocsin-pager" },
    "a relative path": { SERVICE_EXTENSIONS: "./pager.mjs, ./store.mjs" },
    "no package": { SERVICE_EXTENSIONS: "tocsin-nothing" },
    "one name twice": { SERVICE_EXTENSIONS: `${at("pager.mjs")},${at("again.mjs")}` },
    "two storages": { SERVICE_EXTENSIONS: `${at("store.mjs")},${at("other.mjs")}` },
    "a storage and a database": { SERVICE_EXTENSIONS: at("store.mjs"), DATABASE_URL: "memory:" },
    "a webhook of settings": {
      SERVICE_EXTENSIONS: at("webhook.mjs"),
      SERVICE_WEBHOOK_URL: "https://hooks.example.org",
      SERVICE_WEBHOOK_SECRET: `whsec_${"A".repeat(43)}=`,
    },
    "nothing between commas": { SERVICE_EXTENSIONS: `${at("pager.mjs")},,` },
    "an open folder": { SERVICE_EXTENSIONS: at("open/pager.mjs") },
    "a link into an open folder": { SERVICE_EXTENSIONS: at("link.mjs") },
    "links through an open folder": { SERVICE_EXTENSIONS: at("chain.mjs") },
    "a linked package": { SERVICE_EXTENSIONS: "tocsin-lamp" },
    "a package linked through an open folder": { SERVICE_EXTENSIONS: "tocsin-open-lamp" },
    "an open manifest": { SERVICE_EXTENSIONS: "tocsin-loose" },
    "a link of another user": { SERVICE_EXTENSIONS: at("foreign-link.mjs") },
    "a file of another user": { SERVICE_EXTENSIONS: at("foreign.mjs") },
  }
  const outcomeOf = (name: string): Loaded => {
    const found = loaded.get(name)
    if (found === undefined) throw new Error(`no case ${name}`)
    return found
  }
  const problemsOf = (name: string) => outcomeOf(name).problems.map((each) => each.replaceAll(folder, "…"))

  beforeAll(() => {
    for (const [name, text] of Object.entries(FILES)) {
      mkdirSync(dirname(at(name)), { recursive: true })
      writeFileSync(at(name), text)
    }
    writeFileSync(at("foreign.mjs"), "export default {}\n")
    if (process.getuid?.() === 0) chownSync(at("foreign.mjs"), 12_345, 0)
    chmodSync(at("shared.mjs"), 0o666)
    chmodSync(at("open"), 0o777)
    symlinkSync(at("open/pager.mjs"), at("link.mjs"))
    symlinkSync("../pager.mjs", at("open/link.mjs"))
    symlinkSync("open/link.mjs", at("chain.mjs"))
    symlinkSync("../lamp", at("node_modules/tocsin-lamp"))
    symlinkSync("../lamp", at("open/lamp"))
    symlinkSync("../open/lamp", at("node_modules/tocsin-open-lamp"))
    symlinkSync("../loose", at("node_modules/tocsin-loose"))
    chmodSync(at("loose/package.json"), 0o666)
    symlinkSync(at("pager.mjs"), at("foreign-link.mjs"))
    if (process.getuid?.() === 0) lchownSync(at("foreign-link.mjs"), 12_345, 0)
    const all = [...cases, ...Object.values(others)]
    const output = execFileSync(process.execPath, [CASES, JSON.stringify(all)], {
      cwd: folder,
      encoding: "utf8",
    })
    const results: ReadonlyArray<Loaded> = JSON.parse(output)
    const names = [
      ...cases.map(({ SERVICE_EXTENSIONS }) => SERVICE_EXTENSIONS.slice(folder.length + 1)),
      ...Object.keys(others),
    ]
    for (const [index, name] of names.entries()) {
      const result = results[index]
      if (result !== undefined) loaded.set(name, result)
    }
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  it("give notifiers and a storage, from a path, a package and the working directory", () => {
    const pager = { problems: [], notifiers: ["pager"], storage: null, database: null }
    expect(outcomeOf("pager.mjs")).toEqual(pager)
    expect(outcomeOf("a package")).toEqual(pager)
    expect(outcomeOf("a linked package")).toEqual(pager)
    expect(["linking", "path"].flatMap((name) => problemsOf(`${name}.mjs`))).toEqual([])
    expect(outcomeOf("a relative path")).toEqual({ ...pager, storage: "a store" })
    expect(outcomeOf("store.mjs")).toEqual({ ...pager, notifiers: [], storage: "a store" })
    expect(outcomeOf("webhook.mjs")).toEqual({ ...pager, notifiers: ["webhook"] })
    expect(outcomeOf("shop.mjs")).toMatchObject({ database: "postgres" })
    expect(problemsOf("shop.mjs")).toEqual([expect.stringContaining("PostgreSQL requires it")])
  })

  it("end a process in which one loops, though it hears no signal", () => {
    const looping = JSON.stringify([{ SERVICE_EXTENSIONS: at("loops.mjs") }])
    const { signal, stderr } = spawnSync(process.execPath, [CASES, looping, "250"], {
      cwd: folder,
      encoding: "utf8",
    })
    expect(signal).toBe("SIGKILL")
    expect(stderr).toContain(`tocsin: ended, as the import of ${at("loops.mjs")} loops: remove the loop\n`)
  })

  it("end it also if the reader of its messages has gone", async () => {
    const looping = JSON.stringify([{ SERVICE_EXTENSIONS: at("loops.mjs") }])
    const child = spawn(process.execPath, [CASES, looping, "250"], {
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    })
    child.stderr.destroy()
    expect(await once(child, "exit")).toEqual([null, "SIGKILL"])
  })

  it("are imported before any secret's file is read, which may be a pipe", async () => {
    const read: Array<string> = []
    const environment = new Proxy({}, { get: (_, name) => void read.push(String(name)) })
    await Effect.runPromise(loadExtensions(environment))
    expect(read).toContain("SERVICE_EXTENSIONS")
    expect(read.filter((name) => name.endsWith("_FILE"))).toEqual([])
  })

  it("refuse a start with the module and the reason", () => {
    const refused = Object.fromEntries(
      [
        "called",
        "object",
        "throws",
        "text",
        "hangs",
        "syntax",
        "absent",
        "name",
        "form",
        "named",
        "array",
        "list",
        "closed",
        "debug",
      ].map((name) => [name, problemsOf(`${name}.mjs`)]),
    )
    expect(refused).toMatchInlineSnapshot(`
      {
        "absent": [
          "SERVICE_EXTENSIONS names …/absent.mjs, which cannot be imported: Cannot find module '…/absent.mjs' imported from …/",
        ],
        "array": [
          "SERVICE_EXTENSIONS names …/array.mjs, whose default export must be an object { notifiers?, storage? }, as createMonitor takes them, and is a list",
        ],
        "called": [
          "SERVICE_EXTENSIONS names …/called.mjs, whose storage is a function: call it",
        ],
        "closed": [
          "SERVICE_EXTENSIONS names …/closed.mjs, where keyValue: open must be a function that opens the store",
        ],
        "debug": [
          "SERVICE_EXTENSIONS names …/debug.mjs, whose notifier debug has the name of one that settings give: rename it",
        ],
        "form": [
          "SERVICE_EXTENSIONS names …/form.mjs, whose default export must be an object { notifiers?, storage? }, as createMonitor takes them, without notifier",
        ],
        "hangs": [
          "SERVICE_EXTENSIONS names …/hangs.mjs, which was not imported within 30 s: move work from its import to send or open",
        ],
        "list": [
          "SERVICE_EXTENSIONS names …/list.mjs, where notifiers must be an array",
        ],
        "name": [
          "SERVICE_EXTENSIONS names …/name.mjs, where notifiers[0].name must be 1 to 64 lower-case letters, digits or _, and begin with a letter",
        ],
        "named": [
          "SERVICE_EXTENSIONS names …/named.mjs, which has no default export: end it with export default { notifiers: [pager] } or { storage }",
        ],
        "object": [
          "SERVICE_EXTENSIONS names …/object.mjs, which cannot be imported: {"address":"missing"}",
        ],
        "syntax": [
          "SERVICE_EXTENSIONS names …/syntax.mjs, which cannot be imported: Unexpected token '{'; node --eval "import('…/syntax.mjs')" shows the line",
        ],
        "text": [
          "SERVICE_EXTENSIONS names …/text.mjs, which cannot be imported: no",
        ],
        "throws": [
          "SERVICE_EXTENSIONS names …/throws.mjs, which cannot be imported: the pager's address is missing: set PAGER_URL",
        ],
      }
    `)
    expect(
      [
        "no package",
        "one name twice",
        "two storages",
        "a storage and a database",
        "a webhook of settings",
      ].flatMap(problemsOf),
    ).toMatchInlineSnapshot(`
      [
        "SERVICE_EXTENSIONS names tocsin-nothing, which cannot be imported: Cannot find package 'tocsin-nothing' imported from …/",
        "SERVICE_EXTENSIONS names …/again.mjs, whose notifier pager has the name of one of …/pager.mjs: rename it",
        "SERVICE_EXTENSIONS names …/other.mjs, which gives a storage as …/store.mjs does: leave one out",
        "SERVICE_EXTENSIONS names …/store.mjs, which gives a storage beside DATABASE_URL: unset DATABASE_URL, or leave the module out and move the data with tocsin copy",
        "SERVICE_EXTENSIONS names …/webhook.mjs, whose notifier webhook has the name of one that settings give: rename it",
      ]
    `)
    expect(problemsOf("nothing between commas")).toEqual([
      expect.stringContaining("must be modules, separated by"),
    ])
  })

  it("refuse a start where reading what they export or throw fails", () => {
    expect(["getter", "proxy", "then", "promise", "nothing"].flatMap((name) => problemsOf(`${name}.mjs`)))
      .toMatchInlineSnapshot(`
      [
        "SERVICE_EXTENSIONS names …/getter.mjs, whose default export cannot be read; make it a plain object: no address",
        "SERVICE_EXTENSIONS names …/proxy.mjs, whose default export cannot be read; make it a plain object: it threw what cannot be shown",
        "SERVICE_EXTENSIONS names …/then.mjs, which has no default export: end it with export default { notifiers: [pager] } or { storage }",
        "SERVICE_EXTENSIONS names …/promise.mjs, whose default export must be an object { notifiers?, storage? }, as createMonitor takes them, and is a promise: await it",
        "SERVICE_EXTENSIONS names …/nothing.mjs, which cannot be imported: it threw what cannot be shown",
      ]
    `)
  })

  it.skipIf(process.getuid === undefined)(
    "are refused where others can write them, or what they import",
    () => {
      expect(
        [
          "imports.mjs",
          "an open folder",
          "a link into an open folder",
          "links through an open folder",
          "a package linked through an open folder",
          "an open manifest",
        ].flatMap(problemsOf),
      ).toMatchInlineSnapshot(`
        [
          "SERVICE_EXTENSIONS names …/imports.mjs, which cannot be imported: other users can write …/shared.mjs: run chmod go-w on it",
          "SERVICE_EXTENSIONS names …/open/pager.mjs, which cannot be imported: other users can write …/open: run chmod go-w on it",
          "SERVICE_EXTENSIONS names …/link.mjs, which cannot be imported: other users can write …/open: run chmod go-w on it",
          "SERVICE_EXTENSIONS names …/chain.mjs, which cannot be imported: other users can write …/open: run chmod go-w on it",
          "SERVICE_EXTENSIONS names tocsin-open-lamp, which cannot be imported: other users can write …/open: run chmod go-w on it",
          "SERVICE_EXTENSIONS names tocsin-loose, which cannot be imported: other users can write …/node_modules/tocsin-loose/package.json: run chmod go-w on it",
        ]
      `)
    },
  )

  const isRoot = process.getuid?.() === 0
  it.skipIf(!isRoot)(
    `are refused where they belong to another user${isRoot ? "" : " (skipped: only root can give them away)"}`,
    () => {
      expect(["a file of another user", "a link of another user"].flatMap(problemsOf)).toMatchInlineSnapshot(`
      [
        "SERVICE_EXTENSIONS names …/foreign.mjs, which cannot be imported: …/foreign.mjs belongs to user 12345: make root or the user of Tocsin (0) its owner",
        "SERVICE_EXTENSIONS names …/foreign-link.mjs, which cannot be imported: …/foreign-link.mjs belongs to user 12345: make root or the user of Tocsin (0) its owner",
      ]
    `)
    },
  )
})
