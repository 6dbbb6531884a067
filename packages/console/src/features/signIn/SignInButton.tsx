import { type Signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { asFailure, isUnreached, messageOf } from "../../api/ApiFailure.ts"
import { signIn } from "../../state/session.ts"
import { begin, exchange, isHere, type Offer, readOffer, takeReturned } from "./signIn.ts"
import { QuietButton } from "../../view/forms.tsx"

export const failureText = (error: unknown): string => `Signing in failed: ${messageOf(asFailure(error))}.`

/** Signs in by the issuer of the server, if it has one; tokens are there at all times. */
export const SignInButton = ({ fault }: { readonly fault: Signal<string> }) => {
  const offer = useSignal<Offer | undefined>(undefined)
  useEffect(() => {
    const returned = takeReturned()
    if (returned !== undefined && "fault" in returned) fault.value = returned.fault
    else if (returned !== undefined)
      exchange(returned)
        .then(async (token) => signIn(token, "tab"))
        .catch((error: unknown) => (fault.value = failureText(error)))
    readOffer()
      .then((found) => (offer.value = found))
      .catch((error: unknown) => {
        const failure = asFailure(error)
        // An older server has none. What is not reached may have one.
        if (isUnreached(failure) && fault.peek() === "")
          fault.value = `Sign-in without a token is not known: ${messageOf(failure)}.`
      })
  }, [])
  const { value: offered } = offer
  if (offered === undefined) return null
  const { name, problem, redirect_uri } = offered
  if (problem !== undefined)
    return (
      <p role="status">
        Signing in with {name} is not possible now: {problem}. Tokens work.
      </p>
    )
  if (!isHere(offered))
    return (
      <p>
        To sign in with {name}, open <a href={redirect_uri}>{redirect_uri}</a>.
      </p>
    )
  return (
    <QuietButton
      does={() => void begin(offered).catch((error: unknown) => (fault.value = failureText(error)))}
    >
      Sign in with {name}
    </QuietButton>
  )
}
