/* An agent loop with a scripted model, which writes code in two ways: docs/AGENTS.md. Run it with Node.js. */
import { createExecutor, Glovebox, ToolRegistry } from 'glovebox';

const tools = new ToolRegistry()
  .define({
    name: 'list_orders',
    description: 'The open orders.',
    inputSchema: { type: 'object', properties: {} },
    run: () => [{ id: 1, price: 30 }, { id: 2, price: 12 }, { id: 3, price: 58 }],
  })
  .define({
    name: 'cancel_order',
    description: 'Cancels an order.',
    inputSchema: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
    run: ({ id }) => `order ${id} is cancelled`,
  });

// The owner's settings usually allow agents; this example allows its own.
const settings = { 'agent.enabled': true, 'agent.autoApprove': true };
const glovebox = new Glovebox({ settings, decides: ['executor'] });
const runtime = createExecutor({ code_timeout: 10000, max_tool_calls_per_exec: 10 }, tools, { glovebox });

type Step = { tool: 'core.execute' | 'code' | 'answer'; text: string };
type Model = (history: string[]) => Step;

// A real model gets the prompt of docs/AGENTS.md and the history; this one has its steps prepared.
const script: Step[] = [
  { tool: 'core.execute', text: 'return [30, 12, 58].reduce((a, b) => a + b) / 3' },
  { tool: 'code', text: 'for (const o of await list_orders({})) if (o.price > 50) output(await cancel_order({id: o.id}))' },
  { tool: 'answer', text: 'Orders above 50 are cancelled.' },
];
const model: Model = (history) => script[history.length]!;

async function act(step: Step): Promise<string> {
  if (step.tool === 'code') return JSON.stringify(await runtime.execute(step.text, ''));
  return (await glovebox.coreExecute({ purpose: 'compute', code: step.text })).output;
}

const history: string[] = [];
let step = model(history);
for (; step.tool !== 'answer'; step = model(history)) {
  history.push(await act(step));
  console.log(`${step.tool}: ${history.at(-1)}`);
}
console.log(step.text);
await glovebox.close();
