import { enrolmentLines } from "@tocsin/contract/enrolment/enrolmentLines"
import {
  enrolmentColumns,
  CreateEnrolmentRequest,
  type Enrolment,
  EnrolmentPath,
} from "@tocsin/contract/enrolment/Enrolments"
import * as Instant from "@tocsin/contract/formats/Instant"
import { agentHashes } from "@tocsin/core/features/enrolment/agentHashes"
import { publicUrlOf, RuleSettings } from "@tocsin/core/kernel/ports/RuleSettings"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Admission } from "@tocsin/core/lists/Admission"
import { notFound } from "../../CommandFailure.ts"
import { ageText, type Column } from "../../output/texts.ts"
import { actOn, group, listOn } from "../../commands/define.ts"
import * as flags from "../../commands/flags.ts"
import { settingsOfCommand } from "../../commands/UseCases.ts"

const createEnrolment = actOn(Admission.layer)({
  name: "create",
  description: "Create a token that admits agents, and write the lines to paste on a host",
  parameters: {
    uses: flags.integer("uses", "How many agents the token admits, up to 1000 (default: 1)"),
    expires_in: flags.text("expires-in", "How long the token is valid, up to 7d (default: 1h)"),
    agent_id: flags.text("agent", "The only agent that the token admits (default: any)"),
    server: flags.text("server", "The server's address in the lines (default: SERVICE_PUBLIC_URL)"),
  },
  reads: ({ server: _, ...given }) => flags.readArguments(CreateEnrolmentRequest, given),
})(function* (request, { server }) {
  const { SERVICE_PORT: port } = yield* settingsOfCommand
  const publicUrl = publicUrlOf(yield* RuleSettings)
  const enrolment = yield* Admission.use(({ enrolments: { create } }) => create(request))
  const [sha256, other] = agentHashes(yield* Storage.use(({ replicas }) => replicas), yield* Instant.now)
  const lines = enrolmentLines({
    server: server ?? publicUrl ?? `http://127.0.0.1:${port}`,
    token: enrolment.token,
    // Of servers that differ, any may answer.
    sha256: other === undefined ? sha256 : undefined,
  })
  return { answer: enrolment, text: `${lines.join("\n")}\n` }
})

const removeEnrolment = actOn(Admission.layer)({
  name: "delete",
  description: "Delete an enrolment: its token admits no more agents",
  parameters: { id: flags.argument("ID", "The ID of an enrolment, as tocsin enrolments list shows it") },
  reads: flags.reader(EnrolmentPath),
})(function* ({ id }) {
  const { count } = yield* Admission.use(({ enrolments: { remove } }) => remove(id))
  if (count === 0)
    return yield* notFound(`there is no enrolment ${id}: list enrolments with tocsin enrolments list`)
  return { answer: { count }, text: `${id}: deleted\n` }
})

const listEnrolments = listOn(Admission.layer)({
  name: "list",
  description: "List enrolments, the newest first, without their tokens",
  filters: {},
  query: (_, page) => Admission.use(({ enrolments: { list } }) => list(page)),
  columns: (now): ReadonlyArray<Column<Enrolment>> => [
    { title: "ENROLMENT", cell: ({ id }) => id },
    { title: "STATE", cell: ({ state }) => state },
    { title: "AGENT", cell: ({ agent_id }) => agent_id ?? "any" },
    { title: "USED", cell: ({ used, uses }) => `${used}/${uses}` },
    { title: "EXPIRES", cell: ({ expires_at }) => ageText(expires_at, now) },
    { title: "CREATED BY", cell: ({ created_by }) => created_by },
  ],
  of: "enrolments",
  csv: enrolmentColumns,
})

export const enrolments = group({
  name: "enrolments",
  description: "List, create or delete tokens by which agents are accepted",
  examples: ["tocsin enrolments create", "tocsin enrolments create --uses 50 --expires-in 1d"],
  commands: [listEnrolments, createEnrolment, removeEnrolment],
})
