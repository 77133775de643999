import { scriptIn } from './script.js';

const textsOf = ({ parts = [] }) => parts.map(({ text }) => text).filter(Boolean);

/** Google's generateContent, streamed or not. */
export const generateContent = {
  name: 'generate content',
  path: /:(stream)?[gG]enerateContent(\?|$)/,

  read({ contents, tools = [] }, url) {
    const asks = (content) => content.role === 'user' && textsOf(content).some(scriptIn);
    const begun = contents.findLastIndex(asks);
    const later = contents.slice(begun + 1).flatMap(({ parts }) => parts);
    return {
      streamed: /:stream/.test(url),
      tools: tools.flatMap(({ functionDeclarations = [] }) =>
        functionDeclarations.map(({ name }) => name)),
      script: textsOf(contents[begun] ?? {}).map(scriptIn).find(Boolean),
      prompts: contents.filter(asks).length,
      results: later.filter((part) => part.functionResponse).map(({ functionResponse }) => {
        const { output, error } = functionResponse.response;
        return error ?? (typeof output === 'string' ? output : JSON.stringify(output ?? functionResponse.response));
      }),
    };
  },

  write(response, { streamed }) {
    const all = [];
    const answer = (parts, more = {}) => ({
      candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
    });
    const give = (part) => {
      all.push(part);
      if (streamed) response.write(`data: ${JSON.stringify(answer([part]))}\n\n`);
    };
    response.writeHead(200,
      { 'Content-Type': streamed ? 'text/event-stream' : 'application/json' });
    return {
      text: (text) => give({ text }),
      call: (name, args) => give({ functionCall: { name, args } }),
      end() {
        const end = answer(streamed ? [{ text: '' }] : all, { finishReason: 'STOP' });
        response.end(streamed ? `data: ${JSON.stringify(end)}\n\n` : JSON.stringify(end));
      },
    };
  },
};
