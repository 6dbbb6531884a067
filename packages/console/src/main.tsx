import { render } from "preact"
import { startLive } from "./state/live.ts"
import { startPulse } from "./state/summary.ts"
import { App } from "./view/App.tsx"

startLive()
startPulse()
const place = document.getElementById("console")
if (place !== null) render(<App />, place)
