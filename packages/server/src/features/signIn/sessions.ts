import { sessionColumns, type Session, SessionPath } from "@tocsin/contract/signIn/Sessions"
import { Sessions } from "@tocsin/core/features/signIn/Sessions"
import { notFound } from "../../CommandFailure.ts"
import { ageText, type Column } from "../../output/texts.ts"
import { actOn, group, listOn } from "../../commands/define.ts"
import * as flags from "../../commands/flags.ts"

const listSessions = listOn(Sessions.layer)({
  name: "list",
  description: "List the people who are signed in by OpenID Connect, the latest first",
  filters: {},
  query: (_, page) => Sessions.use(({ list }) => list(page)),
  columns: (now): ReadonlyArray<Column<Session>> => [
    { title: "SESSION", cell: ({ id }) => id },
    { title: "NAME", cell: ({ name }) => name },
    { title: "ROLE", cell: ({ role }) => role },
    { title: "BEGAN", cell: ({ created_at }) => ageText(created_at, now) },
    { title: "ENDS", cell: ({ expires_at }) => ageText(expires_at, now) },
  ],
  of: "sessions",
  csv: sessionColumns,
})

const endSession = actOn(Sessions.layer)({
  name: "end",
  description: "End a session, or all of a person: their tokens end at the next request",
  parameters: {
    id: flags.argument(
      "ID",
      "The ID of a session, or the name of its person, as tocsin sessions list shows them",
    ),
  },
  reads: flags.reader(SessionPath),
})(function* ({ id }) {
  const { count } = yield* Sessions.use(({ end }) => end(id))
  if (count === 0)
    return yield* notFound(`there is no session ${id}: list sessions with tocsin sessions list`)
  return { answer: { count }, text: `${id}: ended${count === 1 ? "" : `, ${count} sessions`}\n` }
})

export const sessions = group({
  name: "sessions",
  description: "List or end the sessions of people who sign in by OpenID Connect",
  examples: [
    "tocsin sessions list",
    "tocsin sessions end 9f8e7d6c5b4a39281706f5e4d3c2b1a0",
    "tocsin sessions end oidc:ann",
  ],
  commands: [listSessions, endSession],
})
