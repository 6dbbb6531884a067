import {
  announcementColumns,
  type Announcement,
  AnnouncementKind,
  AnnouncementPath,
  AnnouncementRequest,
  AnnouncementStateName,
  AnnouncementUpdateRequest,
} from "@tocsin/contract/publicPages/Announcements"
import { Announcements } from "@tocsin/core/features/publicPages/Announcements"
import { Effect } from "effect"
import { Flag } from "effect/cli"
import { failure, notFound, refusal, usageFailure } from "../../CommandFailure.ts"
import { Output } from "../../output/Output.ts"
import { type Column, plural, timeText } from "../../output/texts.ts"
import { actOn, group, listOn } from "../../commands/define.ts"
import * as flags from "../../commands/flags.ts"
import { standardInput } from "../../commands/standardInput.ts"

const id = flags.argument("ID", "The id of an announcement, as tocsin announce list shows it")
const text = flags.text("text", "The text (default: standard input)")

const noSuchAnnouncement = (given: { readonly id: string }) =>
  notFound(`there is no announcement ${given.id}: list announcements with tocsin announce list`)

/** A text as it was given, or else that of standard input. */
const textOf = Effect.fnUntraced(function* (given: string | undefined) {
  if (given !== undefined) return given
  if ((yield* Output).canAsk) return yield* usageFailure("give --text, or write the text to standard input")
  const read = yield* Effect.mapError(standardInput, () =>
    failure("standard input cannot be read: give --text"),
  )
  return read.trimEnd()
})

const create = actOn(Announcements.layer)({
  name: "create",
  description: "Publish an announcement on a page of the policy and in its feed",
  examples: [
    'tocsin announce create shop --kind incident --title "The shop is slow" --line web-shop < text.txt',
    'tocsin announce create shop --kind maintenance --title Disks --text "No orders" --starts-at 2027-01-31T20:00:00Z --ends-at 2027-01-31T22:00:00Z',
  ],
  parameters: {
    page: flags.argument("PAGE", "A page of the policy"),
    kind: Flag.Literals("kind", AnnouncementKind.literals).pipe(
      Flag.withDescription("While a maintenance is open, its lines are in maintenance"),
    ),
    title: Flag.String("title").pipe(Flag.withDescription("A title of one line")),
    text,
    lines: Flag.String("line").pipe(
      Flag.withDescription("A line of the page by its id; may be repeated"),
      Flag.atLeast(0),
    ),
    starts_at: flags.text("starts-at", "When it begins, such as 2027-01-31T08:30:00Z (default: now)"),
    ends_at: flags.text("ends-at", "When it ends (default: once you end it)"),
  },
  reads: Effect.fnUntraced(function* ({ text: written, ...given }) {
    return yield* flags.readArguments(AnnouncementRequest, { ...given, text: yield* textOf(written) })
  }),
})(function* (request) {
  const created = yield* Announcements.use((operations) => operations.announce(request))
  return { answer: created, text: `${created.id}: ${created.state}\n` }
})

const update = actOn(Announcements.layer)({
  name: "update",
  description: "Add a text to an announcement; what was published stays as it is",
  examples: ['tocsin announce update 019ae4a1-6c3c-7e4b-9c1d-2f3a4b5c6d7f --text "A database is overloaded"'],
  parameters: { id, text },
  reads: Effect.fnUntraced(function* ({ id: of, text: written }) {
    const path = yield* flags.readArguments(AnnouncementPath, { id: of })
    return {
      ...path,
      ...(yield* flags.readArguments(AnnouncementUpdateRequest, { text: yield* textOf(written) })),
    }
  }),
  refused: { NotFound: noSuchAnnouncement },
})(function* ({ id: of, text: written }) {
  const updated = yield* Announcements.use((operations) => operations.updateAnnouncement(of, written))
  return { answer: updated, text: `${of}: ${plural(updated.updates.length, "update")}\n` }
})

const end = actOn(Announcements.layer)({
  name: "end",
  description: "End an announcement now, or call it off before it begins",
  parameters: { id },
  reads: flags.reader(AnnouncementPath),
  refused: { NotFound: noSuchAnnouncement },
})(function* ({ id: of }) {
  const { count } = yield* Announcements.use((operations) => operations.endAnnouncement(of))
  if (count === 0) return yield* refusal(`the announcement ${of} has ended already: see tocsin announce list`)
  return { answer: { count }, text: `${of}: ended\n` }
})

const list = listOn(Announcements.layer)({
  name: "list",
  description: "List announcements, the newest first",
  filters: {
    page: flags.text("page", "Only announcements of this page"),
    state: flags.filter("state", AnnouncementStateName.literals, "Only announcements in this state"),
  },
  query: (filters, page) => Announcements.use((queries) => queries.announcements({ ...page, ...filters })),
  columns: (): ReadonlyArray<Column<Announcement>> => [
    { title: "ANNOUNCEMENT", cell: (announcement) => announcement.id },
    { title: "PAGE", cell: ({ page }) => page },
    { title: "STATE", cell: ({ state }) => state, isState: true },
    { title: "KIND", cell: ({ kind }) => kind },
    { title: "STARTS", cell: ({ starts_at }) => timeText(starts_at) },
    { title: "ENDS", cell: ({ ends_at }) => timeText(ends_at) },
    { title: "BY", cell: ({ created_by }) => created_by },
    { title: "UPDATES", cell: ({ updates }) => String(updates.length), align: "right" },
    { title: "TITLE", cell: ({ title }) => title, least: 16 },
  ],
  of: "announcements",
  csv: announcementColumns,
})

export const announce = group({
  name: "announce",
  description: "Publish, update, end or list announcements of public pages",
  commands: [create, update, end, list],
})
