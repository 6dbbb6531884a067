import type { Words } from "./Words.ts"

/** Portuguese of Brazil. */
export const pt = {
  page: {
    states: {
      operational: "Operacional",
      degraded: "Degradado",
      down: "Fora do ar",
      maintenance: "Manutenção",
      no_data: "Sem dados",
    },
    within: {
      operational: "operacional",
      degraded: "degradado",
      down: "fora do ar",
      maintenance: "manutenção",
      no_data: "sem dados",
    },
    headlines: {
      operational: "Todos os serviços estão operacionais",
      degraded: "Alguns serviços estão degradados",
      down: "Alguns serviços estão fora do ar",
      maintenance: "Alguns serviços estão em manutenção",
      no_data: "Ainda não há dados",
    },
    kinds: { incident: "Incidente", maintenance: "Manutenção", notice: "Aviso" },
    begins: { scheduled: "Começa: {time}", open: "Desde: {time}", ended: "De: {time}" },
    ends: { scheduled: "Termina: {time}", open: "Termina: {time}", ended: "Terminou: {time}" },
    called_off: "Cancelado: {time}",
    planned_for: "Previsto para: {time}",
    open_incidents: {
      one: "{n} incidente aberto",
      many: "{n} de incidentes abertos",
      other: "{n} incidentes abertos",
    },
    as_of: "Situação: {time}.",
    outdated: "No momento não é possível ler estados mais recentes.",
    planned: "Previsto",
    past: "Anúncios anteriores",
    announcements: "Anúncios",
    last_days: { one: "Último dia ({n})", many: "Últimos {n} dias", other: "Últimos {n} dias" },
    day: "{day}: {state}, {lasted}",
    no_fault: "sem falhas",
    no_fault_since: "sem falhas desde {day}",
    now: "agora {state}",
    more: "e mais {n}",
    available: "{percent}% disponível",
    available_since: "{percent}% disponível desde {day}",
    renews: "Esta página se atualiza a cada minuto. Também como {json}.",
    renews_feed: "Esta página se atualiza a cada minuto. Também como {json} e como {feed}.",
    feed: "feed",
    update: "{title} (atualização)",
    ended: "{title} (encerrado)",
    ended_early: "{title} (cancelado)",
    unready:
      "Esta página ainda não pode ser mostrada, porque seus estados ainda estão sendo lidos ou não podem ser lidos agora. Seu navegador tenta de novo a cada 15 segundos.",
  },
} as const satisfies Words<"one" | "many" | "other">
