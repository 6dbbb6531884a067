import { OperatorPath } from "@tocsin/contract/api/opsResources"
import { type Invitation, InvitationPath } from "@tocsin/contract/signIn/Invitations"
import { publicUrlOf, RuleSettings } from "@tocsin/core/kernel/ports/RuleSettings"
import { Sessions } from "@tocsin/core/features/signIn/Sessions"
import { notFound } from "../../CommandFailure.ts"
import { actOn } from "../../commands/define.ts"
import * as flags from "../../commands/flags.ts"
import { settingsOfCommand } from "../../commands/UseCases.ts"
import { Output } from "../../output/Output.ts"
import { type Column, tableText, timeText } from "../../output/texts.ts"

const name = flags.argument("NAME", "The name of an operator, as tocsin operators list shows it")

/** Writes a link by which an operator signs in once. */
export const invite = actOn(Sessions.layer)({
  name: "invite",
  description: "Make a link by which an operator signs in once, within 24 h",
  parameters: { name },
  reads: flags.reader(OperatorPath),
})(function* ({ name: of }) {
  const answer = yield* Sessions.use((sessions) => sessions.invite(of))
  const { SERVICE_PORT: port } = yield* settingsOfCommand
  const address = publicUrlOf(yield* RuleSettings) ?? `http://127.0.0.1:${port}`
  return { answer, text: `${address}/#/invitation/${answer.token}\n` }
})

const COLUMNS: ReadonlyArray<Column<Invitation>> = [
  { title: "INVITATION", cell: ({ id }) => id },
  { title: "CREATED", cell: ({ created_at }) => timeText(created_at) },
  { title: "BY", cell: ({ created_by }) => created_by },
  { title: "ENDS", cell: ({ expires_at }) => timeText(expires_at) },
]

/** Lists what {@link invite} made and nobody has used. */
export const invitations = actOn(Sessions.layer)({
  name: "invitations",
  description: "List the open invitations of an operator, without their links",
  parameters: { name },
  reads: flags.reader(OperatorPath),
})(function* ({ name: of }) {
  const answer = yield* Sessions.use((sessions) => sessions.invitations(of))
  const { items } = answer
  return {
    answer,
    text: items.length === 0 ? "no open invitations\n" : tableText(COLUMNS, items, yield* Output),
  }
})

/** Deletes an invitation. */
export const withdraw = actOn(Sessions.layer)({
  name: "withdraw",
  description: "Delete an invitation: its link works no more",
  parameters: {
    name,
    id: flags.argument("ID", "The ID of an invitation, as tocsin operators invitations shows it"),
  },
  reads: flags.reader(InvitationPath),
})(function* ({ id, name: of }) {
  const { count } = yield* Sessions.use((sessions) => sessions.removeInvitation(of, id))
  if (count === 0)
    return yield* notFound(`there is no invitation ${id}: list them with tocsin operators invitations ${of}`)
  return { answer: { count }, text: `${id}: deleted\n` }
})
