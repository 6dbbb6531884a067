import { agentOfCommands, agentSuite } from "tocsin/testing/agent"

const script = `${process.cwd()}/examples/agent.sh`

agentSuite(
  agentOfCommands({
    report: ["sh", script, "{check}", "sh", "-c", 'printf %s "$1"; exit "$2"', "sh", "{text}", "{code}"],
    register: ["sh", script],
    env: { TOCSIN_URL: "{url}", TOCSIN_AGENT_ID: "{agent_id}", TOCSIN_STATE_DIR: "{folder}/state" },
    without: {
      "waits as long as Retry-After asks":
        "curl waits within a request, and the next run knows nothing of it",
      "sends the others when the server refuses one result":
        "it moves the whole batch to the folder rejected",
    },
  }),
)
