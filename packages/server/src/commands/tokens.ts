import { csvColumns } from "@tocsin/contract/formats/csvText"
import { OperatorPath } from "@tocsin/contract/api/opsResources"
import { formatDuration } from "@tocsin/contract/formats/DurationText"
import { enrolmentLines } from "@tocsin/contract/enrolment/enrolmentLines"
import {
  enrolmentColumns,
  CreateEnrolmentRequest,
  type Enrolment,
  EnrolmentPath,
} from "@tocsin/contract/enrolment/Enrolments"
import * as Instant from "@tocsin/contract/formats/Instant"
import {
  CreateOperatorRequest,
  type Operator,
  type OperatorWithToken,
  Role,
  RotateOperatorRequest,
} from "@tocsin/contract/operators/Operators"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { agentHashes } from "@tocsin/core/features/enrolment/agentHashes"
import { Admission } from "@tocsin/core/lists/Admission"
import { Operators, USUAL_GRACE } from "@tocsin/core/heart/usecases/Operators"
import { publicUrlOf, RuleSettings } from "@tocsin/core/kernel/ports/RuleSettings"
import { Schema } from "effect"
import { Flag } from "effect/cli"
import { notFound, refusal } from "../CommandFailure.ts"
import type { Column } from "../output/makeTable.ts"
import { ageText } from "../output/texts.ts"
import { invitations, invite, withdraw } from "../features/signIn/invitations.ts"
import { actOn, group, listOn } from "./define.ts"
import * as flags from "./flags.ts"
import { settingsOfCommand } from "./UseCases.ts"

const name = flags.argument("NAME", "The name of an operator, as tocsin operators list shows it")

const noSuchOperator = (given: { readonly name: string }) =>
  notFound(`there is no operator ${given.name}: list operators with tocsin operators list`)

/** The text is the new token alone, so that a script can use it. */
const tokenResult = (operator: OperatorWithToken) => ({ answer: operator, text: `${operator.token}\n` })

const addOperator = actOn(Operators.layer)({
  name: "add",
  description: "Create an operator, and write its token, which is not shown again",
  parameters: {
    name: flags.argument("NAME", "1 to 63 lower-case letters, digits or the characters . _ -"),
    role: Flag.Literals("role", Role.literals).pipe(
      Flag.withDescription("The operator's rights; each role includes the ones before it"),
    ),
    expires_at: flags.text(
      "expires-at",
      "When the operator expires, such as 2027-01-31T08:30:00Z (default: never)",
    ),
  },
  reads: flags.reader(CreateOperatorRequest),
  refused: {
    StateConflict: (given) =>
      refusal(`there is an operator ${given.name}: replace its token with tocsin operators rotate`),
  },
})(function* (request) {
  return tokenResult(yield* Operators.use((operators) => operators.create(request)))
})

const rotateOperator = actOn(Operators.layer)({
  name: "rotate",
  description: "Replace the token of an operator, and write the new one",
  parameters: {
    name,
    grace: flags.text("grace", "How long the former token stays valid, from 0s to 7d (default: 24h)"),
  },
  reads: flags.reader(Schema.Struct({ ...OperatorPath.fields, ...RotateOperatorRequest.fields })),
  refused: { NotFound: noSuchOperator },
})(function* ({ name: operator, ...request }) {
  const rotated = yield* Operators.use(({ rotate }) => rotate(operator, request))
  const length = formatDuration(request.grace ?? USUAL_GRACE)
  return { ...tokenResult(rotated), note: `the former token stays valid for ${length}\n` }
})

const removeOperator = actOn(Operators.layer)({
  name: "remove",
  description: "Remove an operator",
  parameters: { name, yes: flags.yes },
  reads: flags.confirmed(
    OperatorPath,
    (given) => `this removes the operator ${given.name}, whose token ends at its next request`,
  ),
})(function* (operator) {
  const { count } = yield* Operators.use(({ remove }) => remove(operator.name))
  if (count === 0) return yield* noSuchOperator(operator)
  return { answer: { count }, text: `${operator.name}: removed\n` }
})

const listOperators = listOn(Operators.layer)({
  name: "list",
  description: "List operators, without their tokens",
  filters: {},
  query: (_, page) => Operators.use(({ list }) => list(page)),
  columns: (now): ReadonlyArray<Column<Operator>> => [
    { title: "OPERATOR", cell: (operator) => operator.name },
    { title: "ROLE", cell: ({ role }) => role },
    { title: "CREATED BY", cell: ({ created_by }) => created_by },
    { title: "USED", cell: ({ last_used_at }) => ageText(last_used_at, now) },
    { title: "EXPIRES", cell: ({ expires_at }) => ageText(expires_at, now) },
  ],
  of: "operators",
  csv: csvColumns.operators,
})

export const operators = group({
  name: "operators",
  description: "List operators, create or remove them, and replace their tokens",
  examples: ["tocsin operators add ann --role respond", "tocsin operators rotate ann --grace 0s"],
  commands: [listOperators, addOperator, rotateOperator, removeOperator, invite, invitations, withdraw],
})

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
