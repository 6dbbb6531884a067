import { render } from "preact"
import { startAlerting } from "./state/alerting.ts"
import { startLive } from "./state/live.ts"
import { followStorage } from "./state/session.ts"
import { startPulse } from "./state/summary.ts"
import { App } from "./view/App.tsx"

window.addEventListener("storage", followStorage)
startLive()
const place = document.getElementById("console")
if (place !== null) render(<App />, place)
// After the page has asked for its list, which people wait for.
startPulse()
startAlerting()
