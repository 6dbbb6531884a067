import type { Invited } from "@tocsin/contract/signIn/Invitations"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { asFailure, messageOf } from "../../api/ApiFailure.ts"
import { request } from "../../api/request.ts"
import { base } from "../../state/base.ts"
import { replaceStep } from "../../state/browser.ts"
import { HOME, linkTo } from "../../state/Route.ts"
import { signIn } from "../../state/session.ts"
import { Fault } from "../../view/forms.tsx"
import { Bell } from "../../view/states.tsx"

type Answer = (typeof Invited)["Encoded"]

const ask = (body: object): Promise<Answer> =>
  request({ base, token: "" }, "POST", "ops/v1/session", { body })

/** The page of an invitation: its button alone uses it. */
export const Invitation = ({ token: invitation }: { readonly token: string }) => {
  const invited = useSignal<Answer | undefined>(undefined)
  const fault = useSignal("")
  const isBusy = useSignal(false)
  const say = (error: unknown): void => void (fault.value = `${messageOf(asFailure(error))}.`)
  useEffect(() => {
    ask({ invitation, peek: true })
      .then((found) => (invited.value = found))
      .catch(say)
  }, [invitation])
  const use = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    isBusy.value = true
    try {
      const { token = "" } = await ask({ invitation })
      await signIn(token, "device")
      // Nothing keeps an address that was used.
      replaceStep(null, linkTo(HOME))
      location.reload()
    } catch (error) {
      invited.value = undefined
      say(error)
    }
    isBusy.value = false
  }
  return (
    <main class="sign-in">
      <form onSubmit={(event) => void use(event)} noValidate>
        <Bell size={44} />
        <h1>Tocsin</h1>
        {invited.value !== undefined && (
          <>
            <p>
              You are invited as <b>{invited.value.name}</b>, with the role <b>{invited.value.role}</b>. This
              browser stays signed in for 30 days.
            </p>
            <button type="submit" class="main" aria-busy={isBusy.value} disabled={isBusy.value}>
              Sign in
            </button>
          </>
        )}
        <Fault text={fault.value} />
      </form>
    </main>
  )
}
