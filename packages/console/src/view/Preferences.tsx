import { useSignal } from "@preact/signals"
import { NotifyBrowser } from "../features/push/NotifyBrowser.tsx"
import { ServerSettings } from "../features/settings/ServerSettings.tsx"
import { ZONES } from "../format/times.ts"
import { askToNotify } from "../state/browser.ts"
import { prefer, preferences } from "../state/preferences.ts"
import { linkTo } from "../state/Route.ts"
import { WALL } from "../state/session.ts"
import { sound } from "../state/summary.ts"
import { Box } from "./boxes.tsx"
import { Field } from "./forms.tsx"

const THEMES = [["", "as the computer"], ["light"], ["dark"]] as const
const SHOWN_ZONES = [["", "that of the computer"], ...ZONES] as const

/** How this browser shows the console, and what admins set for all. */
export const Preferences = () => {
  const { notifies, sounds, theme, zone } = preferences.value
  const refusal = useSignal("")
  const choose = async (isWanted: boolean): Promise<void> => {
    const isAllowed = isWanted && (await askToNotify())
    refusal.value = isWanted && !isAllowed ? "The browser does not allow notifications here." : ""
    prefer({ notifies: isAllowed })
  }
  return (
    <>
      <Field
        label="Theme"
        value={theme}
        options={THEMES}
        onText={(text) => prefer({ theme: text === "light" || text === "dark" ? text : "" })}
      />
      <Field
        label="Time zone"
        value={zone}
        options={SHOWN_ZONES}
        onText={(text) => {
          prefer({ zone: text })
          // Every time on the page is another text then.
          location.reload()
        }}
      />
      <Box
        label="Desktop notification of new incidents"
        isOn={notifies}
        onChange={(isWanted) => void choose(isWanted)}
      />
      <Box
        label="Sound for new incidents"
        isOn={sounds}
        onChange={(isWanted) => {
          prefer({ sounds: isWanted })
          if (isWanted) sound()
        }}
      />
      {refusal.value !== "" && <p role="alert">{refusal}</p>}
      <NotifyBrowser />
      <ServerSettings />
      <a href={linkTo(WALL)}>Put up a wall on this screen</a>
    </>
  )
}
