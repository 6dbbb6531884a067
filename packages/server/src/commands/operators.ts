import { formatDuration } from "@tocsin/contract/DurationText"
import type * as Instant from "@tocsin/contract/Instant"
import {
  CreateOperatorRequest,
  type Operator,
  OperatorName,
  type OperatorWithToken,
  Role,
  RotateOperatorRequest,
} from "@tocsin/contract/Operators"
import { Operators, USUAL_GRACE } from "@tocsin/core/usecases/Operators"
import { Effect, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { notFound, refusal } from "../CommandFailure.ts"
import type { Column } from "../output/makeTable.ts"
import { confirm } from "../output/Output.ts"
import { ageText } from "../output/texts.ts"
import { act, onStorage } from "./act.ts"
import * as flags from "./flags.ts"
import { listCommand } from "./listCommand.ts"

const NamedOperator = Schema.Struct({ name: OperatorName })

const name = Argument.String("NAME").pipe(
  Argument.withDescription("The name of an operator, as tocsin operators list shows it"),
)

const readName = (text: string) =>
  Effect.map(flags.readArguments(NamedOperator, { name: text }), (read) => read.name)

const noSuchOperator = (given: { readonly name: string }) =>
  notFound(`there is no operator ${given.name}: list operators with tocsin operators list`)

/** The text is the new token alone, so that a script can use it. */
const tokenResult = (operator: OperatorWithToken) => ({ answer: operator, text: `${operator.token}\n` })

const add = act({
  name: "add",
  parameters: {
    name: Argument.String("NAME").pipe(
      Argument.withDescription("1 to 63 lower-case letters, digits or the characters . _ -"),
    ),
    role: Flag.Literals("role", Role.literals).pipe(
      Flag.withDescription("The operator's rights; each role includes the ones before it"),
    ),
    expires_at: flags.text(
      "expires-at",
      "When the operator expires, such as 2027-01-31T08:30:00Z (default: never)",
    ),
  },
  run: Effect.fnUntraced(function* (given) {
    const request = yield* flags.readArguments(CreateOperatorRequest, given)
    return tokenResult(yield* onStorage(Operators.use((operators) => operators.create(request))))
  }),
  refused: {
    StateConflict: (given) =>
      refusal(`there is an operator ${given.name}: replace its token with tocsin operators rotate`),
  },
}).pipe(Command.withDescription("Create an operator, and write its token, which is not shown again"))

const rotate = act({
  name: "rotate",
  parameters: {
    name,
    grace: flags.text("grace", "How long the former token stays valid, from 0s to 7d (default: 24h)"),
  },
  run: Effect.fnUntraced(function* ({ name: text, grace }) {
    const operator = yield* readName(text)
    const request = yield* flags.readArguments(RotateOperatorRequest, { grace })
    const rotated = yield* onStorage(Operators.use((operators) => operators.rotate(operator, request)))
    const length = formatDuration(request.grace ?? USUAL_GRACE)
    return { ...tokenResult(rotated), note: `the former token stays valid for ${length}\n` }
  }),
  refused: { NotFound: noSuchOperator },
}).pipe(Command.withDescription("Replace the token of an operator, and write the new one"))

const remove = act({
  name: "remove",
  parameters: { name, yes: flags.yes },
  run: Effect.fnUntraced(function* ({ name: text, yes }) {
    const operator = yield* readName(text)
    yield* confirm(`this removes the operator ${operator}, whose token ends at its next request`, yes)
    const { count } = yield* onStorage(Operators.use((operators) => operators.remove(operator)))
    if (count === 0) return yield* noSuchOperator({ name: operator })
    return { answer: { count }, text: `${operator}: removed\n` }
  }),
}).pipe(Command.withDescription("Remove an operator"))

const columnsAt = (now: Instant.Instant): ReadonlyArray<Column<Operator>> => [
  { title: "OPERATOR", cell: (operator) => operator.name },
  { title: "ROLE", cell: (operator) => operator.role },
  { title: "CREATED BY", cell: (operator) => operator.created_by },
  { title: "USED", cell: ({ last_used_at }) => (last_used_at === null ? "" : ageText(last_used_at, now)) },
  { title: "EXPIRES", cell: ({ expires_at }) => (expires_at === null ? "" : ageText(expires_at, now)) },
]

const list = listCommand({
  name: "list",
  filters: {},
  query: (_filters, page) => Operators.use((operators) => operators.list(page)),
  columns: columnsAt,
  of: "operators",
}).pipe(Command.withDescription("List operators, without their tokens"))

/** `tocsin operators` */
export const operators = Command.make("operators").pipe(
  Command.withDescription("List operators, create or remove them, and replace their tokens"),
  Command.withExamples([
    { command: "tocsin operators add ann --role respond" },
    { command: "tocsin operators rotate ann --grace 0s" },
  ]),
  Command.withSubcommands([list, add, rotate, remove]),
)
