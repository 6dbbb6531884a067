import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { ApiFailure, asFailure, messageOf } from "../../api/ApiFailure.ts"
import { momentText } from "../../format/times.ts"
import { keepsAnything } from "../../state/kept.ts"
import { now } from "../../state/clock.ts"
import { route } from "../../state/location.ts"
import { notice, signIn, signOut, WALL, wallToken } from "../../state/session.ts"
import { Box } from "../../view/boxes.tsx"
import { Fault, QuietButton } from "../../view/forms.tsx"
import { Bell } from "../../view/states.tsx"
import { failureText, SignInButton } from "./SignInButton.tsx"

const HINT = (
  <>
    An operator token from an administrator, or the service's: <code>SERVICE_AUTH_TOKEN</code> or, without it,
    the file <code>ui-token</code> in the data folder (<code>data</code> unless <code>SERVICE_DATA_DIR</code>{" "}
    is set).
  </>
)
const WALL_HINT = "All who come here can read what it reads: take a token of the role read, from an admin."

const KEEPS_NOTHING = "This browser keeps nothing for this page: you are signed in until you load it again."

const TRY_MILLIS = 30_000

/** The token of a wall, which the server refuses: tried until it is accepted again. */
const Refused = ({ kept }: { readonly kept: string }) => {
  const [since, reason] = [useRef(now.peek()).current, useSignal("")]
  useEffect(() => {
    const attempt = () =>
      signIn(kept, "wall").catch((error: unknown) => (reason.value = messageOf(asFailure(error))))
    void attempt()
    const timer = setInterval(() => void attempt(), TRY_MILLIS)
    return () => clearInterval(timer)
  }, [kept])
  return (
    <div class="stale" role="alert">
      <strong>Nothing shown since {momentText(since, now.peek())}</strong>
      <p>{reason.value === "" ? "Trying the token of this device" : reason}. It is tried again every 30 s.</p>
      <QuietButton does={() => signOut()}>Forget the token</QuietButton>
    </div>
  )
}

export const SignIn = () => {
  const isWall = route.value.page === WALL
  const kept = wallToken()
  const keeps = useRef(keepsAnything()).current
  const typed = useSignal("")
  const isKept = useSignal(isWall)
  const isBusy = useSignal(false)
  const fault = useSignal(notice.value)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const given = typed.value.trim()
    if (!/^[\x21-\x7e]{1,512}$/.test(given)) {
      fault.value = "Enter your token: one word, without spaces."
      return
    }
    isBusy.value = true
    fault.value = ""
    try {
      await signIn(given, !isKept.value ? "tab" : isWall ? WALL : "device")
    } catch (error) {
      fault.value =
        error instanceof ApiFailure && error.code === "unauthorized"
          ? "This token is not valid. Check it, or ask an administrator for another one."
          : failureText(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <main class="sign-in">
      {kept !== undefined && <Refused kept={kept} />}
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Bell size={44} />
        <h1>{isWall ? "Tocsin on a wall" : "Tocsin"}</h1>
        {!isWall && <SignInButton fault={fault} />}
        <label for="token">Token</label>
        <input
          id="token"
          ref={field}
          type="password"
          autoComplete="current-password"
          value={typed}
          aria-describedby="token-hint"
          onInput={(event) => (typed.value = event.currentTarget.value)}
        />
        <p id="token-hint">{isWall ? WALL_HINT : HINT}</p>
        {keeps ? (
          <Box
            label={isWall ? "This is a wall: stay signed in on this device" : "Stay signed in on this device"}
            isOn={isKept.value}
            onChange={(isWanted) => (isKept.value = isWanted)}
          />
        ) : (
          <p role="status">{KEEPS_NOTHING}</p>
        )}
        <Fault text={fault.value} />
        <button type="submit" class="main" aria-busy={isBusy.value} disabled={isBusy.value}>
          {isBusy.value ? "Signing in …" : "Sign in"}
        </button>
      </form>
    </main>
  )
}
