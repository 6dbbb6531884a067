import { assert, describe, it } from "@effect/vitest"
import { AnnouncementId } from "@tocsin/contract/publicPages/Announcements"
import * as Instant from "@tocsin/contract/formats/Instant"
import { PublicPage } from "@tocsin/contract/publicPages/PublicPages"
import { SchemaParser } from "effect"
import type { AnnouncementRecord } from "../../../src/features/publicPages/AnnouncementRecord.ts"
import { PageHistory } from "../../../src/features/publicPages/PageHistory.ts"
import { feedOf, pageBody } from "../../../src/features/publicPages/pageBody.ts"

const NOW = 1_800_000_000
const at = (seconds: number) => Instant.fromMillis((NOW + seconds) * 1_000)

const announcement = (
  title: string,
  created: number,
  [starts, ends]: readonly [starts: number, ends?: number],
  ...updates: ReadonlyArray<number>
): AnnouncementRecord => ({
  id: AnnouncementId.make("0190a5d0-0000-7000-8000-000000000001"),
  page: "example",
  kind: "maintenance",
  title,
  text: "",
  lines: [],
  starts_at: at(starts),
  ends_at: ends === undefined ? undefined : at(ends),
  updates: updates.map((each) => ({ at: Number(at(each)), text: "", by: "eva" })),
  created_by: "eva",
  created_at: at(created),
})

describe("a feed", () => {
  it("has open incidents first, then maintenance, then notices, whatever began last", () => {
    const kinds = ["notice", "maintenance", "incident"] as const
    const announcements = kinds.map((kind, n) => ({ ...announcement(kind, -90, [-9 * (n + 1)]), kind }))
    const ended = { ...announcement("ended", -90, [-50, -40]), kind: "incident" as const }
    assert.deepStrictEqual(
      feedOf({ announcements: [ended, ...announcements], asOf: at(0) }).map(({ title }) => title),
      ["incident", "maintenance", "notice", "ended"],
    )
  })

  it("has open announcements first, then the next ones and the last ones, none with a time to come", () => {
    const announcements = [
      announcement("some day", -50, [900_000]),
      announcement("next week", -40, [600_000, 610_000], -30),
      announcement("tomorrow", -90, [80_000, 90_000]),
      announcement("since an hour", -9_000, [-3_600]),
      announcement("since now", -60, [-60, 50]),
      announcement("called off", -700, [9_000, -500]),
      announcement("over", -9_000, [-8_000, -100], -200),
    ]
    const secondsOf = (text: string) => Date.parse(text) / 1_000 - NOW
    assert.deepStrictEqual(
      feedOf({ announcements, asOf: at(0) }).map(({ published, title, updated }) => [
        title,
        secondsOf(published),
        secondsOf(updated),
      ]),
      [
        ["since now", -60, -60],
        ["since an hour", -9_000, -3_600],
        ["tomorrow", -90, -90],
        ["next week", -40, -30],
        ["some day", -50, -50],
        ["over", -9_000, -100],
        ["called off", -700, -500],
      ],
    )
  })
})

describe("the announcements of a page", () => {
  it("name the lines that it has, and none that was removed since", () => {
    const lines = [{ name: "Web shop", match: ["check_id = web"] }]
    const page = SchemaParser.decodeUnknownSync(PublicPage)({
      title: "Shop",
      groups: [{ title: "All", lines }],
    })
    const record = { ...announcement("slow", -60, [-60]), lines: ["web-shop", "secret-project"] }
    const today = { at: at(0), days: [], lines: [], gaps: new Map() }
    const { announcements } = pageBody(new PageHistory(page), {
      asOf: at(0),
      today,
      states: ["operational"],
      announcements: [record],
    })
    assert.deepStrictEqual(
      announcements.map((shown) => shown.lines),
      [["web-shop"]],
    )
  })
})
