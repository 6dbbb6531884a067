import { assert } from "@effect/vitest"
import { AnnouncementId } from "@tocsin/contract/publicPages/Announcements"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { AnnouncementRecord } from "@tocsin/core/features/publicPages/AnnouncementRecord"
import { readPolicy } from "@tocsin/core/lists/readPolicy"
import { type Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { parseAtomFeed } from "feedsmith"
import { Effect, Result } from "effect"
import { call } from "../client/call.ts"
import { acceptedAgent, event, heartbeat, push } from "../client/TestAgent.ts"
import { onStorage } from "../onStorage.ts"
import { Tocsin, type TocsinOptions } from "../service/Tocsin.ts"

/** No page has any of it. */
const CANARY = "canary"

const policy = Result.getOrThrow(
  readPolicy(
    {
      pages: {
        example: {
          title: "Example <b>Inc.</b>",
          groups: [
            {
              title: "Shop & more",
              lines: [
                { name: "Web shop", match: [`label:${CANARY} = web`, "check_id glob *-web"] },
                { name: "Payment", id: "pay", match: [`check_id = ${CANARY}-pay`] },
                { name: "Search", match: ["check_id = none"] },
              ],
            },
          ],
          history: "7d",
        },
        "example-2": {
          title: "Other",
          lang: "de",
          groups: [{ title: "a", lines: [{ name: "b", match: ["check_id = c"] }] }],
        },
      },
    },
    [],
  ),
)

const options: TocsinOptions = { rules: { policy, publicUrl: "https://status.example/base" } }

/** A storage that counts how often the states of lines are read, and that fails on demand. */
const counted = () => {
  const seen = { reads: 0, fails: false }
  const failure = new StorageError({ reason: "unavailable", message: `${CANARY}: no storage` })
  const spoil = (storage: Storage["Service"]): Storage["Service"] => ({
    ...storage,
    checks: (refs) =>
      Effect.suspend(() => {
        seen.reads += 1
        return seen.fails ? Effect.fail(failure) : storage.checks(refs)
      }),
    page: (request) => Effect.suspend(() => (seen.fails ? Effect.fail(failure) : storage.page(request))),
  })
  return { seen, spoil }
}

/** A storage that has an announcement of one page. */
const announcing = (storage: Storage["Service"]): Storage["Service"] => ({
  ...storage,
  page: (request) =>
    request.list === "announcements" && Object(request.filter).page === "example"
      ? // The rows of this list.
        Effect.succeed([ANNOUNCEMENT] as never)
      : storage.page(request),
})

const ANNOUNCEMENT: AnnouncementRecord = {
  id: AnnouncementId.make("0190a5d0-0000-7000-8000-000000000001"),
  page: "example",
  kind: "incident",
  title: "We look <into> it",
  text: "First\nsecond",
  lines: ["pay"],
  starts_at: Instant.fromMillis(0),
  ends_at: undefined,
  updates: [{ at: 1_772_366_000_000_000, text: "Found & mended", by: CANARY }],
  created_by: CANARY,
  created_at: Instant.fromMillis(0),
}

const arrange = Effect.gen(function* () {
  const agent = yield* acceptedAgent(`${CANARY}-1`)
  yield* heartbeat(agent, { hostname: `${CANARY}.example.org`, labels: { [CANARY]: "web" } })
  const more = { output: `${CANARY} <b>failed</b>`, incident_key: `${CANARY}-key` }
  yield* push(
    agent,
    event({ check_id: `${CANARY}-web`, ...more }),
    event({ check_id: `${CANARY}-pay`, status: "critical", exit_code: 2, ...more }),
  )
  return agent
})

const FILES = ["", ".json", ".atom", "/badge.svg", "/web-shop.svg", "/pay.svg"]
const get = (file: string, headers: Readonly<Record<string, string>> = {}) =>
  call("GET", `/status/example${file}`, { headers })

/** Public pages (docs/rules.md#public-pages). */
export const publicPageSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  const { scenario } = onStorage(subject)

  scenario(
    "everyone gets the pages of the policy, which show nothing else of what is monitored",
    () =>
      Effect.gen(function* () {
        yield* arrange
        for (const file of FILES) {
          // The first answer comes from the routes, the second from the front.
          const [first, second] = [yield* get(file), yield* get(file)]
          assert.strictEqual(first.status, 200, file)
          const {
            date: _,
            "x-request-id": __,
            connection: ___,
            "keep-alive": ____,
            ...fields
          } = first.headers
          assert.deepInclude(second.headers, fields)
          assert.strictEqual(second.text, first.text)
          assert.notInclude(`${first.text}${JSON.stringify(fields)}`, CANARY)
          assert.strictEqual(fields["cache-control"], "public, max-age=15")
          assert.notProperty(fields, "set-cookie")
          assert.include(fields["content-security-policy"], "default-src 'none'")
          if (file !== "") {
            assert.strictEqual(fields["access-control-allow-origin"], "*")
            assert.strictEqual(fields["cross-origin-resource-policy"], "cross-origin")
          }
          const asking = { origin: "https://shop.example", "access-control-request-method": "GET" }
          const asked = yield* call("OPTIONS", `/status/example${file}`, { headers: asking })
          // A page itself is shown by no other one.
          assert.deepStrictEqual(
            [
              asked.status,
              asked.headers["access-control-allow-origin"],
              asked.headers["access-control-allow-methods"],
            ],
            file === "" ? [404, undefined, undefined] : [204, "*", "GET, HEAD"],
            file,
          )
          const same = yield* get(file, { "if-none-match": String(fields["etag"]) })
          assert.deepStrictEqual([same.status, same.text], [304, ""])
          const head = yield* call("HEAD", `/status/example${file}`)
          assert.deepStrictEqual(
            [head.status, head.text, head.headers["content-length"]],
            [200, "", fields["content-length"]],
          )
          // The routes answer as the front does, and neither a host nor a prefix changes a byte.
          const odd = {
            host: "evil.example",
            "x-forwarded-prefix": "/evil",
            "x-forwarded-host": "evil.example",
            "content-length": "0",
          }
          const routed = yield* get(file, odd)
          assert.deepInclude(routed.headers, fields)
          assert.strictEqual(routed.text, first.text)
          const refused = yield* call("POST", `/status/example${file}`).pipe(Effect.result)
          assert.strictEqual(Result.getOrThrow(refused).status, 404)
          assert.strictEqual(Result.getOrThrow(refused).headers["allow"], "GET, HEAD")
        }
        const page = yield* get("")
        assert.include(page.text, "Example &lt;b&gt;Inc.&lt;/b&gt;")
        assert.include(page.text, '<meta http-equiv="refresh" content="60">')
        assert.include(page.text, "We look &lt;into&gt; it")
        assert.notMatch(page.text, /<script|(?:src|href)="(?:https?:|\/)|<b>Inc\./)
        const german = yield* call("GET", "/status/example-2")
        assert.include(german.text, '<html lang="de">')
        assert.include(german.text, "Es gibt noch keine Daten")
        const { body } = yield* get(".json")
        assert.deepNestedInclude(body, {
          title: "Example <b>Inc.</b>",
          state: "down",
          "groups[0].title": "Shop & more",
          "groups[0].lines[0].state": "operational",
          "groups[0].lines[1].id": "pay",
          "groups[0].lines[1].state": "down",
          "groups[0].lines[2].state": "no_data",
          "announcements[0].lines": ["pay"],
          "announcements[0].state": "open",
          "announcements[0].updates[0]": { at: "2026-03-01T11:53:20.000Z", text: "Found & mended" },
          "announcements[0].ends_at": null,
        })
        assert.include((yield* get("/pay.svg")).text, "Payment: down")
        const feed = parseAtomFeed((yield* get(".atom")).text)
        assert.strictEqual(feed.id, "https://status.example/base/status/example")
        assert.strictEqual(feed.entries?.[0]?.title?.value, "Incident: We look <into> it")
        assert.strictEqual(feed.entries?.[0]?.id, `urn:uuid:${ANNOUNCEMENT.id}`)
        for (const path of [
          "nothing",
          "example/none.svg",
          "example/",
          "Example",
          "example.xml",
          "constructor",
        ])
          assert.strictEqual((yield* call("GET", `/status/${path}`)).status, 404, path)
        assert.strictEqual((yield* call("GET", "/status/example-2")).status, 200)
        // A browser gets plain words.
        const missing = yield* call("GET", "/status/nothing", { headers: { accept: "text/html,*/*;q=0.8" } })
        assert.strictEqual(missing.status, 404)
        assert.match(missing.headers["content-type"] ?? "", /^text\/html/)
        assert.include(missing.text, "<h1>There is no such page</h1>")
        assert.include(missing.headers["content-security-policy"], "default-src 'none'; style-src 'sha256-")
      }),
    { ...options, spoil: announcing },
  )

  const reads = counted()
  scenario(
    "a page is read at most every 15 s, while readers ask; while that fails, the last one stays",
    () =>
      Effect.gen(function* () {
        const { clock, port } = yield* Tocsin
        yield* arrange
        reads.seen.fails = true
        const unready = yield* get("")
        assert.strictEqual(unready.status, 503)
        assert.match(unready.text, /^This page cannot be shown yet/)
        assert.deepInclude(unready.headers, { refresh: "15", "retry-after": "15" })
        reads.seen.fails = false
        clock.advance("15 seconds")
        // Many at the same time.
        const before = reads.seen.reads
        yield* Effect.all(
          Array.from({ length: 20 }, () => get("")),
          { concurrency: "unbounded" },
        )
        // Two lines have checks, of which today and the days before are folded, and the states are read once.
        const first = reads.seen.reads - before
        assert.isAtMost(first, 5)
        for (let second = 0; second < 13; second++) {
          yield* get("")
          clock.advance("1 second")
        }
        assert.strictEqual(reads.seen.reads - before, first)
        clock.advance("3 seconds")
        const { body } = yield* get(".json")
        assert.strictEqual(reads.seen.reads - before, first + 1)
        reads.seen.fails = true
        clock.advance("1 minute")
        const last = yield* get(".json")
        assert.deepStrictEqual([last.status, last.body], [200, body])
        assert.include((yield* get("")).text, "Newer states cannot be read now.")
        const attempts = reads.seen.reads
        yield* get("")
        clock.advance("1 hour")
        assert.strictEqual(reads.seen.reads, attempts)
        reads.seen.fails = false
        const compressed = yield* Effect.promise(async () => {
          const answer = await fetch(`http://127.0.0.1:${port}/status/example`)
          return [answer.headers.get("content-encoding"), await answer.text()]
        })
        assert.strictEqual(compressed[0], "gzip")
        assert.notInclude(compressed[1], "Newer states")
      }),
    { ...options, spoil: reads.spoil },
  )
}
