import { CreateEnrolmentRequest, type Enrolment, EnrolmentPath } from "@tocsin/contract/Enrolments"
import { enrolmentLine } from "@tocsin/contract/enrolmentLine"
import type * as Instant from "@tocsin/contract/Instant"
import { Admission } from "@tocsin/core/usecases/Admission"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { notFound } from "../CommandFailure.ts"
import type { Column } from "../output/makeTable.ts"
import { ageText } from "../output/texts.ts"
import { act, onStorage } from "./act.ts"
import * as flags from "./flags.ts"
import { listCommand } from "./listCommand.ts"
import { settingsOfCommand } from "./UseCases.ts"

const create = act({
  name: "create",
  parameters: {
    uses: flags.integer("uses", "How many agents the token admits, up to 1000 (default: 1)"),
    expires_in: flags.text("expires-in", "How long the token is valid, up to 7d (default: 1h)"),
    agent_id: flags.text("agent", "The only agent that the token admits (default: any)"),
    server: flags.text("server", "The server's address in the line (default: SERVICE_PUBLIC_URL)"),
  },
  run: Effect.fnUntraced(function* ({ server, ...given }) {
    const request = yield* flags.readArguments(CreateEnrolmentRequest, given)
    const { SERVICE_PORT: port, SERVICE_PUBLIC_URL: publicUrl } = yield* settingsOfCommand
    const enrolment = yield* onStorage(Admission.use(({ enrolments }) => enrolments.create(request)))
    const address = server ?? publicUrl ?? `http://127.0.0.1:${port}`
    return { answer: enrolment, text: `${enrolmentLine(address, enrolment.token)}\n` }
  }),
}).pipe(Command.withDescription("Create a token that admits agents, and write the line to paste on a host"))

const remove = act({
  name: "delete",
  parameters: {
    id: Argument.String("ID").pipe(
      Argument.withDescription("The ID of an enrolment, as tocsin enrolments list shows it"),
    ),
  },
  run: Effect.fnUntraced(function* (given) {
    const { id } = yield* flags.readArguments(EnrolmentPath, given)
    const { count } = yield* onStorage(Admission.use(({ enrolments }) => enrolments.remove(id)))
    if (count === 0)
      return yield* notFound(`there is no enrolment ${id}: list enrolments with tocsin enrolments list`)
    return { answer: { count }, text: `${id}: deleted\n` }
  }),
}).pipe(Command.withDescription("Delete an enrolment: its token admits no more agents"))

const columnsAt = (now: Instant.Instant): ReadonlyArray<Column<Enrolment>> => [
  { title: "ENROLMENT", cell: (enrolment) => enrolment.id },
  { title: "STATE", cell: (enrolment) => enrolment.state },
  { title: "AGENT", cell: ({ agent_id }) => agent_id ?? "any" },
  { title: "USED", cell: ({ used, uses }) => `${used}/${uses}` },
  { title: "EXPIRES", cell: ({ expires_at }) => ageText(expires_at, now) },
  { title: "CREATED BY", cell: (enrolment) => enrolment.created_by },
]

const list = listCommand({
  name: "list",
  filters: {},
  query: (_filters, page) => Admission.use(({ enrolments }) => enrolments.list(page)),
  columns: columnsAt,
  of: "enrolments",
}).pipe(Command.withDescription("List enrolments, the newest first, without their tokens"))

/** `tocsin enrolments` */
export const enrolments = Command.make("enrolments").pipe(
  Command.withDescription("List, create or delete tokens by which agents are accepted"),
  Command.withExamples([
    { command: "tocsin enrolments create" },
    { command: "tocsin enrolments create --uses 50 --expires-in 1d" },
  ]),
  Command.withSubcommands([list, create, remove]),
)
