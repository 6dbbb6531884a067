import { useSignal } from "@preact/signals"
import type { ExpectedCheckState, Integration, KeptMails as Answer, TriedMail } from "@tocsin/client"
import type { ComponentChildren } from "preact"
import { useEffect, useRef } from "preact/hooks"
import { segment } from "../../api/request.ts"
import { listOf, MOST } from "../../state/lists.ts"
import { linkTo } from "../../state/Route.ts"
import { call, mayAdminister } from "../../state/session.ts"
import type { Texts } from "../../view/FormField.ts"
import { Dialog } from "../../view/Dialog.tsx"
import { Fault, Form, QuietButton } from "../../view/forms.tsx"
import { Time } from "../../view/states.tsx"

type KeptMail = Answer["items"][number]

const STATUSES = ["", "ok", "warning", "critical", "unknown", "ignore"] as const

const AS_ANY = "by its words"

/** The rule of a form: what stays blank is left open. */
const ruleOf = ({ check = "", from = "", status = "", subject = "" }: Texts) => ({
  match: { ...(subject !== "" && { subject }), ...(from !== "" && { from }) },
  ...(check !== "" && { check }),
  ...(status !== "" && { status }),
})

const becomes = ({ check_id, outcome, status, by, reason }: KeptMail | TriedMail): string =>
  [check_id === undefined ? outcome : `${check_id} ${status ?? ""}`, `by ${by}`, reason]
    .filter((part) => part !== undefined)
    .join(", ")

/** A sender whose subjects differ each time makes a check of each mail. */
const MANY_CHECKS = 20

/** Senders, which are the titles of checks by subject, that have made many checks. */
const crowdedIn = (checks: ReadonlyArray<ExpectedCheckState>): ReadonlyArray<string> => {
  const titles = checks.map(({ title }) => title ?? "").filter((title) => title.includes("@"))
  const countOf = (title: string) => titles.filter((one) => one === title).length
  return Array.from(new Set(titles)).filter((title) => countOf(title) >= MANY_CHECKS)
}

interface KeptMailsProps {
  readonly of: Integration
  readonly onClose: () => void
}

/** Makes a rule of a mail, which can be tried on that mail first. */
const RuleForm = ({ mail, of: { name, options }, onClose }: KeptMailsProps & { readonly mail: KeptMail }) => {
  const path = `ops/v1/integrations/${segment(name)}`
  const tried = useSignal("")
  const place = useRef<HTMLDivElement>(null)
  // It is below all mails, which may be longer than the window.
  useEffect(() => {
    place.current?.querySelector("input")?.focus()
  }, [])
  // The first rule that fits counts.
  const withRule = (texts: Texts) => {
    const { rules } = options
    return { ...options, rules: [ruleOf(texts), ...(Array.isArray(rules) ? rules : [])] }
  }
  const attempt = async (texts: Texts) => {
    const body = { id: mail.id, options: withRule(texts) }
    tried.value = `It would be: ${becomes(await call<TriedMail>("POST", `${path}/try`, { body }))}.`
    return undefined
  }
  const add = async (texts: Texts) => {
    await call("PATCH", path, { body: { options: withRule(texts) } })
    onClose()
    return { text: `Added a rule to ${name}` }
  }
  return (
    <div ref={place}>
      <Form
        title="A rule for mails like this one"
        fields={{
          subject: {
            label: "Subject",
            initial: mail.subject,
            isWide: true,
            hint: "* is any text, ? one character",
          },
          from: { label: "From", initial: mail.from },
          check: { label: "Check", example: "$1 is what the first star took" },
          status: { label: "Status", options: STATUSES.map((one) => [one, one || AS_ANY] as const) },
        }}
        acts={[
          ["Try", attempt],
          ["Add the rule", add, "main"],
        ]}
        keptAs={mail.id}
        preview={() => tried.value !== "" && <p role="status">{tried.value}</p>}
      />
    </div>
  )
}

const MailRow = ({ mail, of: name, children }: MailRowProps) => (
  <li>
    <b>{mail.subject}</b> <span>from {mail.from}</span>, <Time at={mail.received_at} />:{" "}
    {mail.check_id === undefined ? (
      becomes(mail)
    ) : (
      <a href={linkTo("checks", [name, mail.check_id])}>{becomes(mail)}</a>
    )}{" "}
    {children}
  </li>
)

interface MailRowProps {
  readonly mail: KeptMail
  readonly of: string
  readonly children: ComponentChildren
}

/** The last mails of an integration, what became of each, and a rule made of one. */
export const KeptMails = ({ of: integration, onClose }: KeptMailsProps) => {
  const { name } = integration
  const [mails, chosen] = [
    useSignal<Answer["items"] | undefined>(undefined),
    useSignal<KeptMail | undefined>(undefined),
  ]
  const [fault, crowded] = [useSignal(""), useSignal<ReadonlyArray<string>>([])]
  useEffect(() => {
    const read = async () => {
      mails.value = (await call<Answer>("GET", `ops/v1/integrations/${segment(name)}/mails`)).items
      const checks = listOf<ExpectedCheckState>("ops/v1/checks", { agent_id: name }, MOST)
      crowded.value = crowdedIn((await checks.read(undefined)).items)
    }
    read().catch((error: unknown) => (fault.value = error instanceof Error ? error.message : String(error)))
  }, [name])
  return (
    <Dialog name={`Mails to ${name}`} onClose={onClose}>
      <h2>Mails to {name}</h2>
      {crowded.value.map((sender) => (
        <p class="lead" key={sender}>
          {sender} has made {MANY_CHECKS} checks or more, one for each subject: make a rule with stars, or
          give its address a check, as KEY+CHECK@DOMAIN.
        </p>
      ))}
      {mails.value?.length === 0 && <p class="lead">No mail came within 7 days.</p>}
      <ul class="plain" aria-label="Mails">
        {mails.value?.map((mail) => (
          <MailRow key={mail.id} mail={mail} of={name}>
            {mayAdminister.value && <QuietButton does={() => (chosen.value = mail)}>Make a rule</QuietButton>}
          </MailRow>
        ))}
      </ul>
      {chosen.value !== undefined && (
        <RuleForm key={chosen.value.id} mail={chosen.value} of={integration} onClose={onClose} />
      )}
      <Fault text={fault.value} />
      <QuietButton does={onClose}>Close</QuietButton>
    </Dialog>
  )
}
