import { useSignal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { ApiFailure } from "../api/ApiFailure.ts"
import { notice, signIn } from "../state/session.ts"
import { Box, Fault } from "../view/forms.tsx"
import { Bell } from "../view/states.tsx"

export const SignIn = () => {
  const typed = useSignal("")
  const isKept = useSignal(false)
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
      await signIn(given, isKept.value)
    } catch (error) {
      fault.value =
        error instanceof ApiFailure && error.status === 401
          ? "This token is not valid. Check it, or ask an administrator for another one."
          : `Signing in failed: ${error instanceof Error ? error.message : "unknown"}. Try again.`
    } finally {
      isBusy.value = false
    }
  }
  return (
    <main class="sign-in">
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Bell size={44} />
        <h1>Tocsin</h1>
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
        <p id="token-hint">
          An operator token from an administrator, or the service's: <code>SERVICE_AUTH_TOKEN</code> or,
          without it, the file <code>ui-token</code> in the data folder (<code>data</code> unless{" "}
          <code>SERVICE_DATA_DIR</code> is set).
        </p>
        <Box
          label="Stay signed in on this device"
          isOn={isKept.value}
          onChange={(isWanted) => (isKept.value = isWanted)}
        />
        <Fault text={fault.value} />
        <button type="submit" class="main" aria-busy={isBusy.value} disabled={isBusy.value}>
          {isBusy.value ? "Signing in …" : "Sign in"}
        </button>
      </form>
    </main>
  )
}
