import type { PolicyDocument } from "@tocsin/contract/policy/PolicyDocument"
import type { Receiver } from "@tocsin/contract/receivers/Receiver"
import { needsUtf8Mail } from "@tocsin/contract/formats/needsUtf8Mail"
import { MAIL_SENDER } from "@tocsin/contract/receivers/ReceiverTypes"
import { at, problemIf, type Problems } from "../../heart/policy/problemsAt.ts"

const FOREIGN =
  "has characters before the @ that only a mail server with SMTPUTF8 takes; write an address of ASCII there unless yours does"

export const receiverWarnings = ({ receivers = {} }: PolicyDocument): Problems =>
  Object.entries(receivers).flatMap(([name, receiver]) => at(addressWarnings(receiver), "receivers", name))

const addressWarnings = (receiver: Receiver): Problems => {
  if (receiver.kind !== "messenger") return []
  const { cc = [], from = "", to = [] } = receiver
  const recipients = typeof to === "string" ? [] : to
  return [
    ...problemIf(needsUtf8Mail(MAIL_SENDER.exec(from)?.groups?.["inner"] ?? from), FOREIGN, "from"),
    ...recipients.flatMap((one, n) => problemIf(needsUtf8Mail(one), FOREIGN, "to", n)),
    ...cc.flatMap((one, n) => problemIf(needsUtf8Mail(one), FOREIGN, "cc", n)),
  ]
}
