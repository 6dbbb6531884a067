import type { NewInvitation } from "@tocsin/client"
import { useSignal } from "@preact/signals"
import { segment } from "../../api/request.ts"
import { decide } from "../../pages/decide.ts"
import { base } from "../../state/base.ts"
import { call } from "../../state/session.ts"
import { Dialog } from "../../view/Dialog.tsx"
import { CopyText } from "../../view/copies.tsx"
import { ActionButton, QuietButton } from "../../view/forms.tsx"
import { Loaded } from "../../view/Script.tsx"
import { Time } from "../../view/states.tsx"

interface Made extends NewInvitation {
  readonly link: string
}

const Shown = ({ made, name, close }: { made: Made; name: string; close: () => void }) => (
  <Dialog name={`Invitation of ${name}`} onClose={close}>
    <p>
      Whoever opens this link first signs in as <b>{name}</b>. It works once, and ends{" "}
      <Time at={made.expires_at} />.
    </p>
    <Loaded of={decide} draw={({ Code }) => <Code text={made.link} />} />
    <CopyText text={made.link} />
    <div class="actions">
      <QuietButton does={close}>Close</QuietButton>
    </div>
  </Dialog>
)

/** Makes a link by which an operator signs in, and shows it this once. */
export const Invite = ({ name }: { readonly name: string }) => {
  const made = useSignal<Made | undefined>(undefined)
  const invite = async () => {
    const { items } = await call<{
      readonly items: ReadonlyArray<{ readonly name: string; readonly value: unknown }>
    }>("GET", "ops/v1/settings")
    const address = items.find((one) => one.name === "public_url")?.value
    const at = typeof address === "string" ? `${address}/` : base
    const body = {}
    const created = await call<NewInvitation>("POST", `ops/v1/operators/${segment(name)}/invitations`, {
      body,
    })
    made.value = { ...created, link: `${at}#/invitation/${created.token}` }
    return undefined
  }
  return (
    <>
      <ActionButton describes={`Invite ${name}`} does={invite}>
        Invite
      </ActionButton>
      {made.value && <Shown made={made.value} name={name} close={() => (made.value = undefined)} />}
    </>
  )
}
