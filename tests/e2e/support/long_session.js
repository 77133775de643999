/** A log like that of an agent's long day: four kinds of events, 2 KB each on average. */
const KINDS = [
  (at) => ['user_prompt', { message: `prompt ${at}` }],
  (at) => ['agent_message', { text: `# Answer ${at}\n\nSome **words** and \`code\`.\n\n- one\n- two` }],
  (at) => ['tool_call', { tool_call_id: `t${at}`, title: `npm test ${at}`, status: 'completed', raw_output: 'line\n'.repeat(1_600) }],
  (at) => ['agent_thought', { text: `thinking of ${at}\n`.repeat(20) }],
];
const AT_ONCE = 100;

/** Records a session with `events` events; returns its id. */
export async function recordLong(sessions, events, name = 'Long') {
  const { session_id: id } = await sessions.call('POST', '/sessions', { name });
  for (let from = 0; from < events; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, events - from) }, (_, i) => from + i).map((at) => {
      const [type, data] = KINDS[at % KINDS.length](at);
      return { type, data };
    });
    await sessions.call('POST', `/sessions/${id}/events`, { events: some });
  }
  return id;
}
