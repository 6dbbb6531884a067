import { alertRouter } from "./alertRouter.ts"
import { icinga } from "./icinga.ts"
import { alerts, pings, results } from "./integrations.ts"
import { tocsin } from "./tocsin.ts"
import { statusPages } from "./statusPages.ts"
import { zabbix } from "./zabbix.ts"

/** The services that the load generator can report to. */
export const protocols = { tocsin, alertRouter, icinga, zabbix, results, pings, alerts, statusPages }

export type ProtocolName = keyof typeof protocols
