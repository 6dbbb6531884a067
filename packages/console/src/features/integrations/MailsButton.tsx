import { useSignal } from "@preact/signals"
import type { Integration } from "@tocsin/client"
import { decide } from "../../pages/decide.ts"
import { mayRespond } from "../../state/session.ts"
import { QuietButton } from "../../view/forms.tsx"
import { Loaded } from "../../view/Script.tsx"

/** Opens the last mails of an integration, whose script is loaded then. */
export const MailsButton = ({ of: integration }: { readonly of: Integration }) => {
  const isOpen = useSignal(false)
  if (!mayRespond.value) return null
  const close = () => (isOpen.value = false)
  return (
    <>
      <QuietButton does={() => (isOpen.value = true)}>Mails</QuietButton>
      {isOpen.value && (
        <Loaded of={decide} draw={({ KeptMails }) => <KeptMails of={integration} onClose={close} />} />
      )}
    </>
  )
}
