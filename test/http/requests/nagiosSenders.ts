/** A request as a sender makes it, and the check that it reports, with its status and output. */
interface SentResult {
  /** Where the sender's source or documentation has it, read in November 2026. */
  readonly source: string
  readonly method: "GET" | "POST"
  /** Below `/in/KIND`. */
  readonly path: string
  readonly body?: string
  readonly check: string
  readonly status: string
  readonly summary: string
}

/** Requests of NRDP's senders, with `KEY` for the key. */
export const NRDP_SENDERS: ReadonlyArray<SentResult> = [
  {
    // It writes XML into a form as it is, with three characters of the output encoded.
    source: "NagiosEnterprises/nrdp, clients/send_nrdp.sh 0.6.1 of August 2024, with curl or wget",
    method: "POST",
    path: "//",
    body: `token=KEY&cmd=submitcheck&xml=<?xml version='1.0'?>
    <checkresults>
    <checkresult type='service' checktype='1'>
        <servicename>disk</servicename><hostname>sh</hostname>
    <state>1</state>
    <output><![CDATA[90% of 10 GB %26 %3Cfull%3E|used=9GB;8;9;0;10]]></output>
    </checkresult>
    </checkresults>`,
    check: "sh:disk",
    status: "warning",
    summary: "90% of 10 GB & <full>|used=9GB;8;9;0;10",
  },
  {
    source: "NagiosEnterprises/nrdp, clients/send_nrdp.sh 0.6.1 of August 2024, -f FILE",
    method: "POST",
    path: "//",
    body: `token=KEY&cmd=submitcheck&xml=${encodeURIComponent(`<?xml version='1.0'?>
<checkresults>
  <checkresult type="host" checktype="1">
    <hostname>file</hostname>
    <state>0</state>
    <output>OK|perfdata=1.00;5;10;0</output>
  </checkresult>
</checkresults>
`)}`,
    check: "file:host",
    status: "ok",
    summary: "OK|perfdata=1.00;5;10;0",
  },
  {
    // The only way to send that works in this version: it does not import what it escapes other results by.
    source: "NagiosEnterprises/nrdp, clients/send_nrdp.py of August 2024, -f FILE",
    method: "GET",
    path: `/?${new URLSearchParams({
      token: "KEY",
      cmd: "submitcheck",
      XMLDATA:
        "<?xml version='1.0'?>\n<checkresults>\n<checkresult type='service' checktype='1'><hostname>py</hostname>" +
        "<servicename>backup</servicename><state>2</state><output>it&#x27;s &quot;full&quot;\\n&lt;sda&gt;</output>" +
        "</checkresult></checkresults>",
    })}`,
    check: "py:backup",
    status: "critical",
    summary: 'it\'s "full"\n<sda>',
  },
  {
    source:
      "NagiosEnterprises/nrdp, clients/send_nrdp.php of August 2024, with and without the extension curl",
    method: "POST",
    path: "/",
    body: `token=KEY&cmd=submitcheck&xml=${encodeURIComponent(`<?xml version='1.0'?>
<checkresults>

    <checkresult type='service'  checktype='1'>
        <hostname>php</hostname>
        <servicename>disk</servicename>
        <state>1</state>
        <output>90 % &lt;full&gt; &amp; &quot;more&quot;|used=9GB;8;9</output>
    </checkresult>
        
</checkresults>`).replaceAll("%20", "+")}`,
    check: "php:disk",
    status: "warning",
    summary: '90 % <full> & "more"|used=9GB;8;9',
  },
  {
    source: "NagiosEnterprises/ncpa, agent/passive/nrdp.py of May 2026",
    method: "POST",
    path: "/",
    body: new URLSearchParams({
      token: "KEY",
      XMLDATA:
        '<?xml version="1.0" ?><checkresults><checkresult type="service"><servicename>CPU Usage</servicename>' +
        "<hostname>ncpa</hostname><state>3</state><output>UNKNOWN: no such node &amp; no data</output></checkresult>" +
        "</checkresults>",
      cmd: "submitcheck",
    }).toString(),
    check: "ncpa:CPU_Usage",
    status: "unknown",
    summary: "UNKNOWN: no such node & no data",
  },
  {
    source: "NagiosEnterprises/nrdp, server/index.php of August 2024: the JSON of its form",
    method: "POST",
    path: "/?token=KEY&cmd=submitcheck",
    body: `JSONDATA={"checkresults":[{"checkresult":{"type":"host","checktype":"1"},"hostname":"json","state":"1","output":"WARNING: Danger Will Robinson! | perfdata=1;"}]}`,
    check: "json:host",
    status: "critical",
    summary: "WARNING: Danger Will Robinson! | perfdata=1;",
  },
]

const ICINGA = "/v1/actions/process-check-result"

/** Requests of the users of Icinga's API. */
export const ICINGA_SENDERS: ReadonlyArray<SentResult> = [
  {
    source: "Icinga/icinga2, doc/12-icinga2-api.md: process-check-result, a service",
    method: "POST",
    path: ICINGA,
    body: '{ "type": "Service", "filter": "host.name==\\"icinga2-master1.localdomain\\" && service.name==\\"passive-ping\\"", "exit_status": 2, "plugin_output": "PING CRITICAL - Packet loss = 100%", "performance_data": [ "rta=5000.000000ms;3000.000000;5000.000000;0.000000", "pl=100%;80;100;0" ], "check_source": "example.localdomain", "pretty": true }',
    check: "icinga2-master1.localdomain:passive-ping",
    status: "critical",
    summary:
      "PING CRITICAL - Packet loss = 100%|rta=5000.000000ms;3000.000000;5000.000000;0.000000 pl=100%;80;100;0",
  },
  {
    source: "Icinga/icinga2, doc/12-icinga2-api.md: process-check-result, a host",
    method: "POST",
    path: ICINGA,
    body: '{ "filter": "host.name==\\"example.localdomain\\"", "type": "Host", "exit_status": 1, "plugin_output": "Host is not available." }',
    check: "example.localdomain:host",
    status: "critical",
    summary: "Host is not available.",
  },
  {
    source: "mqtt-tools/mqttwarn, services/icinga2.py: the object's name in the body",
    method: "POST",
    path: ICINGA,
    body: '{"service": "mqtt!door", "check_source": "mqttwarn", "exit_status": 0, "plugin_output": "closed"}',
    check: "mqtt:door",
    status: "ok",
    summary: "closed",
  },
  {
    source: "jamespo/passinga, passinga.py of October 2024: the state as a text, no performance data",
    method: "POST",
    path: ICINGA,
    body: '{"type": "Service", "check_source": "passinga", "filter": "host.name==\\"passinga\\" && service.name==\\"mail\\"", "exit_status": "2", "plugin_output": "3 mails wait"}',
    check: "passinga:mail",
    status: "critical",
    summary: "3 mails wait",
  },
  {
    source: "rclsilver-org/backup-controller, agents/default/outputs/icinga.sh of July 2026",
    method: "POST",
    path: ICINGA,
    body: `{
  "type": "Service",
  "filter": "host.name==\\"restic\\" && service.name==\\"home\\"",
  "exit_status": 0,
  "plugin_output": "done",
  "performance_data": [
    "duration=12.5",
    "files_new=1"
  ],
  "pretty": true
}
`,
    check: "restic:home",
    status: "ok",
    summary: "done|duration=12.5 files_new=1",
  },
  {
    source: "report handlers of configuration tools: the name in the address, the state as a text",
    method: "POST",
    path: `${ICINGA}?service=chef!run`,
    body: '{"exit_status":"2","plugin_output":"exception=\'none\'","performance_data":["elapsed_time=12.5;;;"]}',
    check: "chef:run",
    status: "critical",
    summary: "exception='none'|elapsed_time=12.5;;;",
  },
  {
    source: "Robot Framework's listeners: a filter with filter_vars",
    method: "POST",
    path: ICINGA,
    body: '{"type": "Service", "filter": "host.name==host_name && service.name==service_name", "filter_vars": {"host_name": "robot", "service_name": "login"}, "exit_status": 1, "plugin_output": "slow", "performance_data": "t=9s"}',
    check: "robot:login",
    status: "warning",
    summary: "slow|t=9s",
  },
]
