import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import type { Announcement, Page } from "@tocsin/client/Resources"
import { EXIT_CODES } from "@tocsin/server/CommandFailure"
import { Effect } from "effect"
import { scratchFolder } from "../processes/scratch.ts"
import { feed } from "./feed.ts"
import { jsonOf, type Place, tocsin } from "./tocsin.ts"

const POLICY = `
pages:
  shop:
    title: Example
    groups: [{ title: Shop, lines: [{ name: Web shop, match: ["label:team = web"] }] }]
`

describe("commands on announcements", () => {
  it.live("publish, update, end and list them, with texts of standard input", () =>
    Effect.gen(function* () {
      const cwd = yield* scratchFolder
      const file = join(cwd, "policy.yaml")
      writeFileSync(file, POLICY)
      const place: Place = { cwd, environment: { SERVICE_POLICY_FILE: file } }
      const run = (...args: ReadonlyArray<string>) => tocsin(place, "announce", ...args)
      yield* tocsin(place, "migrate")
      const slow = ["--kind", "incident", "--title", "Slow", "--line", "web-shop", "--json"]
      const created = feed(place, "Pages take\nten seconds.\n", "announce", "create", "shop", ...slow)
      const { id, ...made } = JSON.parse(created) as Announcement
      assert.deepInclude(made, { text: "Pages take\nten seconds.", lines: ["web-shop"], state: "open" })
      assert.strictEqual((yield* run("update", id, "--text", "Better")).stdout, `${id}: 1 update\n`)
      const { items } = (yield* jsonOf(place, "announce", "list", "--page", "shop")) as Page<Announcement>
      assert.deepStrictEqual(
        items.map(({ id: of, updates }) => [of, updates[0]?.text]),
        [[id, "Better"]],
      )
      assert.match((yield* run("list")).stdout, /shop +open +incident .+ 1 +Slow\n$/)
      assert.strictEqual((yield* run("end", id)).stdout, `${id}: ended\n`)
      const refusals: ReadonlyArray<readonly [string, keyof typeof EXIT_CODES, RegExp]> = [
        [`end ${id}`, "refused", /has ended already/],
        [`update ${id} --text late`, "refused", /create another one/],
        [`end ${id.replace(/.{4}$/, "0000")}`, "not_found", /list announcements with tocsin announce list/],
        [`create blog --kind notice --title a --text b`, "usage", /a page of the policy \(shop\), got blog/],
        [`create shop --kind notice --title a --text b --line x`, "usage", /\(web-shop\), got x/],
      ]
      for (const [args, exit, message] of refusals) {
        const { code, stderr } = yield* run(...args.split(" "))
        assert.strictEqual(code, EXIT_CODES[exit].code, stderr)
        assert.match(stderr, message)
      }
    }),
  )
})
