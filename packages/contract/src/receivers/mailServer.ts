import type { FieldProblem } from "../formats/describeIssue.ts"
import type { Language } from "../languages/Language.ts"
import type { PolicyDocument } from "../policy/PolicyDocument.ts"
import type { Mail, Receiver } from "./Receiver.ts"

const isMail = (receiver: Receiver): receiver is Extract<Receiver, { readonly kind: "messenger" }> =>
  receiver.kind === "messenger" && receiver.type === "email"

/** Whether a receiver states where its mail server is. */
const hasAddress = (receiver: Receiver): boolean =>
  ["url_file", "url_env", "secrets"].some((key) => Object.hasOwn(receiver, key))

/** Whether a receiver sends by the mail server that others share. */
export const needsMailServer = (receiver: Receiver): boolean => isMail(receiver) && !hasAddress(receiver)

/** A receiver with what a mail server adds to it: what it states itself wins, and its own address takes no `tls`. */
export const withServer = (receiver: Receiver, { from, ...server }: Mail): Receiver =>
  isMail(receiver) ? { ...(!hasAddress(receiver) && server), from, ...receiver } : receiver

/** The receivers of a policy with its mail server and its language (docs/rules.md#mails). */
export const completeReceivers = ({
  lang,
  mail,
  receivers = {},
}: Pick<PolicyDocument, "lang" | "mail" | "receivers">): NonNullable<PolicyDocument["receivers"]> =>
  mail === undefined && lang === undefined
    ? receivers
    : Object.fromEntries(
        Object.entries(receivers).map(([name, receiver]) => [
          name,
          withLanguage(mail === undefined ? receiver : withServer(receiver, mail), lang),
        ]),
      )

/** A receiver that people read has the language of the policy where it states none. */
const withLanguage = (receiver: Receiver, lang: Language | undefined): Receiver =>
  lang !== undefined && receiver.kind === "messenger" ? { lang, ...receiver } : receiver

/** Where a policy states what a problem is about: what its mail server adds to receivers, at `mail`. */
const statedAt = (
  { mail, receivers = {} }: Pick<PolicyDocument, "mail" | "receivers">,
  path: FieldProblem["path"],
): FieldProblem["path"] => {
  const [root, name, ...field] = path
  const [key] = field.map(String)
  const isOfMail =
    root === "receivers" &&
    key !== undefined &&
    Object.hasOwn(mail ?? {}, key) &&
    !Object.hasOwn(receivers[String(name)] ?? {}, key)
  return isOfMail ? ["mail", ...field] : path
}

/** The problems of receivers that have their mail server's fields, with those of the server once, at `mail`. */
export const atMail = (
  policy: Pick<PolicyDocument, "mail" | "receivers">,
  problems: ReadonlyArray<FieldProblem>,
): ReadonlyArray<FieldProblem> => {
  const stated = problems.map((problem) => ({ ...problem, path: statedAt(policy, problem.path) }))
  const isSame = (a: FieldProblem, b: FieldProblem) =>
    a.message === b.message && a.path.join("\0") === b.path.join("\0")
  return stated.filter(
    (one, place) => one.path[0] !== "mail" || stated.findIndex((each) => isSame(each, one)) === place,
  )
}
