import { scriptIn } from './script.js';

/** The text of a message's content, which is a text or a list of parts. */
function textsOf(content) {
  if (typeof content === 'string') return [content];
  return (content ?? []).filter(({ type }) => type === 'text').map(({ text }) => text);
}

/** OpenAI's chat completions, streamed. */
export const chatCompletions = {
  name: 'chat completions',
  path: /\/chat\/completions$/,

  read({ messages, tools = [], model }) {
    const asks = ({ role, content }) => role === 'user' && textsOf(content).some(scriptIn);
    const begun = messages.findLastIndex(asks);
    return {
      model,
      tools: tools.map((tool) => tool.function.name),
      script: textsOf(messages[begun]?.content).map(scriptIn).find(Boolean),
      prompts: messages.filter(asks).length,
      results: messages.slice(begun + 1).filter(({ role }) => role === 'tool')
        .map(({ content }) => textsOf(content).join('')),
    };
  },

  write(response, { model, prompts, results }) {
    let calls = 0;
    const send = (delta, finish_reason = null, more = {}) => {
      const choices = [{ index: 0, delta, finish_reason }];
      const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 0, model, choices };
      response.write(`data: ${JSON.stringify({ ...chunk, ...more })}\n\n`);
    };
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    send({ role: 'assistant', content: '' });
    return {
      text: (content) => send({ content }),
      call(name, args) {
        const id = `call_${prompts}_${results.length}_${calls}`;
        send({ tool_calls: [{ index: calls, id, type: 'function',
          function: { name, arguments: JSON.stringify(args) } }] });
        calls += 1;
      },
      end() {
        const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
        send({}, calls > 0 ? 'tool_calls' : 'stop', { usage });
        response.end('data: [DONE]\n\n');
      },
    };
  },
};
