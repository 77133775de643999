import { scriptIn } from './script.js';

function textsOf(content) {
  if (typeof content === 'string') return [content];
  return (content ?? []).filter(({ text }) => typeof text === 'string').map(({ text }) => text);
}

/** The names of tools; a tool of a namespace is `namespace/name`. */
function namesOf(tools) {
  return tools.flatMap(({ type, name, tools: inside }) =>
    (type === 'namespace' ? namesOf(inside).map((each) => `${name}/${each}`) : [name ?? type]));
}

/** OpenAI's Responses, streamed. */
export const responses = {
  name: 'responses',
  path: /\/responses$/,

  read({ input, tools = [], model }) {
    const asks = ({ role, content }) => role === 'user' && textsOf(content).some(scriptIn);
    const begun = input.findLastIndex(asks);
    return {
      model,
      tools: namesOf(tools),
      script: textsOf(input[begun]?.content).map(scriptIn).find(Boolean),
      prompts: input.filter(asks).length,
      results: input.slice(begun + 1).filter(({ type }) => /call_output$/.test(type))
        .map(({ output }) => textsOf(output).join('')),
    };
  },

  write(response, { model, prompts, results }) {
    const output = [];
    let said = null;
    const send = (type, data) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    const about = (status, more) =>
      ({ response: { id: 'resp_1', object: 'response', created_at: 0, model, status, output, ...more } });
    const add = (item) => {
      send('response.output_item.added', { output_index: output.length, item });
      return item;
    };
    const finish = (item) => {
      send('response.output_item.done', { output_index: output.length, item });
      output.push(item);
    };
    const endText = () => {
      if (!said) return;
      finish({ ...said, status: 'completed' });
      said = null;
    };
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    send('response.created', about('in_progress'));
    return {
      text(delta) {
        said ??= add({ type: 'message', id: `msg_${output.length}`, role: 'assistant',
          status: 'in_progress', content: [{ type: 'output_text', text: '', annotations: [] }] });
        said.content[0].text += delta;
        send('response.output_text.delta',
          { item_id: said.id, output_index: output.length, content_index: 0, delta });
      },
      call(tool, args) {
        endText();
        const [name, namespace] = tool.split('/').reverse();
        const id = `${prompts}_${results.length}_${output.length}`;
        finish({ ...add({ type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, name,
          ...(namespace && { namespace }), arguments: JSON.stringify(args) }), status: 'completed' });
      },
      end() {
        endText();
        const usage = { input_tokens: 10, input_tokens_details: { cached_tokens: 0 },
          output_tokens: 5, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 15 };
        send('response.completed', about('completed', { usage }));
        response.end();
      },
    };
  },
};
