import { useSignal } from "@preact/signals"
import { sound } from "../state/alerting.ts"
import { prefer, preferences } from "../state/preferences.ts"

const THEMES = [
  ["", "as the computer"],
  ["light", "light"],
  ["dark", "dark"],
] as const

const Choices = () => {
  const { notifies, sounds, theme, zone } = preferences.value
  const refusal = useSignal("")
  const askToNotify = async (isWanted: boolean): Promise<void> => {
    const answer =
      !isWanted || !("Notification" in window) ? "denied" : await Notification.requestPermission()
    refusal.value = isWanted && answer !== "granted" ? "The browser does not allow notifications here." : ""
    prefer({ notifies: answer === "granted" })
  }
  return (
    <>
      <label>
        Theme
        <select
          value={theme}
          onChange={({ currentTarget: { selectedIndex } }) =>
            prefer({ theme: THEMES[selectedIndex]?.[0] ?? "" })
          }
        >
          {THEMES.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <label>
        Time zone
        <select
          value={zone}
          onChange={({ currentTarget }) => {
            prefer({ zone: currentTarget.value })
            // Every time on the page is another text then.
            location.reload()
          }}
        >
          <option value="">that of the computer</option>
          {["UTC", ...Intl.supportedValuesOf("timeZone")].map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </label>
      <label class="choice">
        <input
          type="checkbox"
          checked={notifies}
          onChange={({ currentTarget }) => void askToNotify(currentTarget.checked)}
        />
        Desktop notification of new incidents
      </label>
      <label class="choice">
        <input
          type="checkbox"
          checked={sounds}
          onChange={({ currentTarget: { checked } }) => {
            prefer({ sounds: checked })
            if (checked) sound()
          }}
        />
        Sound for new incidents
      </label>
      {refusal.value !== "" && <p role="alert">{refusal}</p>}
    </>
  )
}

/** The button that leads to the choices of this browser. */
export const PreferencesButton = () => {
  const isOpen = useSignal(false)
  const toggle = () => (isOpen.value = !isOpen.value)
  return (
    <>
      <button type="button" class="quiet" aria-expanded={isOpen.value} onClick={toggle}>
        Settings
      </button>
      {isOpen.value && (
        <section class="help preferences" role="dialog" aria-label="Settings of this browser">
          <h2>Settings of this browser</h2>
          <Choices />
          <button type="button" class="quiet" onClick={toggle}>
            Close
          </button>
        </section>
      )}
    </>
  )
}
