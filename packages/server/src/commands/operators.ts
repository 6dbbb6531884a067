import { csvColumns } from "@tocsin/contract/formats/csvText"
import { OperatorPath } from "@tocsin/contract/api/opsResources"
import { formatDuration } from "@tocsin/contract/formats/DurationText"
import {
  CreateOperatorRequest,
  type Operator,
  type OperatorWithToken,
  Role,
  RotateOperatorRequest,
} from "@tocsin/contract/operators/Operators"
import { Operators, USUAL_GRACE } from "@tocsin/core/heart/usecases/Operators"
import { Schema } from "effect"
import { Flag } from "effect/cli"
import { notFound, refusal } from "../CommandFailure.ts"
import { ageText, type Column } from "../output/texts.ts"
import { invitations, invite, withdraw } from "../features/signIn/invitations.ts"
import { actOn, group, listOn } from "./define.ts"
import * as flags from "./flags.ts"

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
