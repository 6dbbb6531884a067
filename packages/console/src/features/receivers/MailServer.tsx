import { useSignal } from "@preact/signals"
import type { PolicyInForce } from "@tocsin/client"
import { segment } from "../../api/request.ts"
import { applyChange } from "../../state/policyActions.ts"
import { call } from "../../state/session.ts"
import { Dialog } from "../../view/Dialog.tsx"
import type { FormField, Texts } from "../../view/FormField.ts"
import { refusal } from "../../view/formFault.ts"
import { Form, QuietButton } from "../../view/forms.tsx"
import { refusalOf } from "../../view/PolicyDialog.tsx"
import { MAIL_PARTS, mailAddress, mailFields } from "./mailFields.ts"

type Mail = NonNullable<PolicyInForce["policy"]["mail"]>

/** The name of its stored secrets, unless the policy has given them another one. */
const SECRETS = "mail_server"

/** Stores its address and password, and names them in the policy. A blank server keeps those that are there. */
const save = async (policy: PolicyInForce, former: Mail | undefined, texts: Texts) => {
  const { from = "" } = texts
  const url = mailAddress(texts)
  const { secrets = SECRETS } = former ?? {}
  const store = () =>
    url === "" ? undefined : call("PUT", `ops/v1/secrets/${segment(secrets)}`, { body: { values: { url } } })
  // Where the policy names them already, they count at once, so it is changed first: it may be refused.
  const isNamed = former?.secrets !== undefined
  if (!isNamed) await store()
  const { url_env, url_file, ...others } = former ?? {}
  const address = url === "" ? { ...(url_env && { url_env }), ...(url_file && { url_file }) } : { secrets }
  const value = { ...others, ...address, from }
  const applied = await applyChange(policy, [{ op: "add", path: "/mail", value }])
  if (isNamed && applied !== undefined) await store()
  return applied && { text: `Saved the mail server as version ${applied.version}` }
}

/**
 * The mail server that receivers share, so that each needs an address alone (docs/rules.md#mails). It asks for no
 * `tls: off`: the service sends stored secrets without TLS only for a receiver with which they are given.
 */
export const MailServer = ({ policy }: { readonly policy: PolicyInForce }) => {
  const isOpen = useSignal(false)
  const { mail: former } = policy.policy
  const close = () => (isOpen.value = false)
  const isNeeded = () => true
  const isHostNeeded = (texts: Texts) =>
    former === undefined || Object.keys(MAIL_PARTS).some((name) => texts[name])
  const { "url.host": host, ...others } = mailFields(former)
  const fields: Readonly<Record<string, FormField>> = {
    "url.host": {
      ...host,
      hint: former && "Write all of them again, or none to keep them.",
      isNeeded: isHostNeeded,
    },
    ...others,
    from: { label: "From", example: "tocsin@example.org", initial: former?.from ?? "", isNeeded },
  }
  return (
    <div class="actions after">
      <QuietButton does={() => (isOpen.value = true)}>
        {former === undefined ? "Share a mail server" : "Change the mail server"}
      </QuietButton>
      {former !== undefined && <span>Mails are from {former.from}, where a receiver says nothing else.</span>}
      {isOpen.value && (
        <Dialog name="The mail server" onClose={close}>
          <Form
            title="The mail server"
            fields={fields}
            hasColumns
            acts={[
              [
                "Save",
                async (texts) => {
                  const done = await save(policy, former, texts).catch((error: unknown) => {
                    throw refusal(refusalOf(error))
                  })
                  if (done !== undefined) close()
                  return done
                },
                "main",
              ],
            ]}
            cancels={close}
          />
        </Dialog>
      )}
    </div>
  )
}
