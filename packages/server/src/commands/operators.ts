import { formatDuration } from "@tocsin/contract/DurationText"
import * as Instant from "@tocsin/contract/Instant"
import {
  CreateOperatorRequest,
  type Operator,
  OperatorName,
  type OperatorWithToken,
  Role,
  RotateOperatorRequest,
} from "@tocsin/contract/Operators"
import { Operators, USUAL_GRACE } from "@tocsin/core/usecases/Operators"
import { Effect, Record, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { notFound, refusal } from "../CommandFailure.ts"
import type { Column } from "../output/makeTable.ts"
import { confirm, Output, writeResult } from "../output/Output.ts"
import { ageText } from "../output/texts.ts"
import { itemsOf, writeList } from "../output/writeList.ts"
import * as flags from "./flags.ts"
import { readArguments } from "./readArguments.ts"
import { useCases } from "./UseCases.ts"

const NamedOperator = Schema.Struct({ name: OperatorName })

const name = Argument.String("NAME").pipe(
  Argument.withDescription("The name of an operator, as tocsin operators list shows it"),
)

const noSuchOperator = (operator: OperatorName) =>
  notFound(`there is no operator ${operator}: list operators with tocsin operators list`)

/** Writes the new token alone, so that a script can use it. */
const writeToken = (operator: OperatorWithToken, json: boolean) =>
  writeResult(json, operator, () => `${operator.token}\n`)

const add = Command.make(
  "add",
  {
    name: Argument.String("NAME").pipe(
      Argument.withDescription("1 to 63 lower-case letters, digits or the characters . _ -"),
    ),
    role: Flag.Literals("role", Role.literals).pipe(
      Flag.withDescription("What the operator may do; each role includes the ones before it"),
    ),
    expiresAt: flags.text(
      "expires-at",
      "When the operator expires, such as 2027-01-31T08:30:00Z (default: never)",
    ),
    json: flags.json,
  },
  Effect.fnUntraced(function* ({ name: text, role, expiresAt, json }) {
    const expiry = Record.getSomes({ expires_at: expiresAt })
    const request = yield* readArguments(CreateOperatorRequest, { name: text, role, ...expiry })
    const create = Effect.gen(function* () {
      const operators = yield* Operators
      const created = operators
        .create(request)
        .pipe(
          Effect.catchTag("StateConflict", () =>
            Effect.fail(
              refusal(`there is an operator ${text}: replace its token with tocsin operators rotate`),
            ),
          ),
        )
      return yield* writeToken(yield* created, json)
    })
    return yield* Effect.provide(create, useCases)
  }),
).pipe(Command.withDescription("Create an operator, and write its token, which is not shown again"))

const rotate = Command.make(
  "rotate",
  {
    name,
    grace: flags.text("grace", "How long the former token stays valid, from 0s to 7d (default: 24h)"),
    json: flags.json,
  },
  Effect.fnUntraced(function* ({ name: text, grace, json }) {
    const { name: operator } = yield* readArguments(NamedOperator, { name: text })
    const request = yield* readArguments(RotateOperatorRequest, Record.getSomes({ grace }))
    const replace = Effect.gen(function* () {
      const operators = yield* Operators
      const rotated = Effect.catchTag(operators.rotate(operator, request), "NotFound", () =>
        Effect.fail(noSuchOperator(operator)),
      )
      yield* writeToken(yield* rotated, json)
      const { note } = yield* Output
      yield* note(`the former token stays valid for ${formatDuration(request.grace ?? USUAL_GRACE)}\n`)
    })
    return yield* Effect.provide(replace, useCases)
  }),
).pipe(Command.withDescription("Replace the token of an operator, and write the new one"))

const remove = Command.make(
  "remove",
  { name, yes: flags.yes, json: flags.json },
  Effect.fnUntraced(function* ({ name: text, yes, json }) {
    const { name: operator } = yield* readArguments(NamedOperator, { name: text })
    yield* confirm(`this removes the operator ${operator}, whose token ends at its next request`, yes)
    const removing = Effect.gen(function* () {
      const operators = yield* Operators
      const { count } = yield* operators.remove(operator)
      if (count === 0) return yield* noSuchOperator(operator)
      return yield* writeResult(json, { count }, () => `${operator}: removed\n`)
    })
    return yield* Effect.provide(removing, useCases)
  }),
).pipe(Command.withDescription("Remove an operator"))

const columnsAt = (now: Instant.Instant): ReadonlyArray<Column<Operator>> => [
  { title: "OPERATOR", cell: (operator) => operator.name },
  { title: "ROLE", cell: (operator) => operator.role },
  { title: "CREATED BY", cell: (operator) => operator.created_by },
  { title: "USED", cell: ({ last_used_at }) => (last_used_at === null ? "" : ageText(last_used_at, now)) },
  { title: "EXPIRES", cell: ({ expires_at }) => (expires_at === null ? "" : ageText(expires_at, now)) },
]

const list = Command.make(
  "list",
  flags.list,
  Effect.fnUntraced(function* (given) {
    const operators = yield* Operators
    const items = itemsOf((page) => operators.list(page))
    return yield* writeList({ items, columns: columnsAt(yield* Instant.now), of: "operators" }, given)
  }, Effect.provide(useCases)),
).pipe(Command.withDescription("List operators, without their tokens"))

/** `tocsin operators` */
export const operators = Command.make("operators").pipe(
  Command.withDescription("List operators, create or remove them, and replace their tokens"),
  Command.withExamples([
    { command: "tocsin operators add ann --role respond" },
    { command: "tocsin operators rotate ann --grace 0s" },
  ]),
  Command.withSubcommands([list, add, rotate, remove]),
)
