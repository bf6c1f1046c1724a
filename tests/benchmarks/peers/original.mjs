// The original, as a process that does work on request: one JSON document a line, in and out.
//
//   {"work": {...}, "scopes": 0, "guard": true} -> {"prompt": "...", "snapshot": "..."}
//   {"iterations": 10}                          -> {"nanoseconds": 1234}, what one took
//
// With "scopes", each of as many scopes has three contributions and a listener, and the first
// one is assembled for.
import { createInterface } from "node:readline";
import { Context } from "@deepseek-ai/cordis";
import InvariantRegistry from "@deepseek-ai/dsh-invariants";
import { createScope } from "@deepseek-ai/dsh-scope";
import SystemPrompt, { renderContextSnapshot, renderPrompt } from "@deepseek-ai/dsh-system-prompt";
import * as guard from "@deepseek-ai/dsh-system-prompt/invariant";

const WARM_UP_NANOSECONDS = 1.5e9;
const LEAST_WARM_UP = 20;

function provider(takes) {
  const [take] = takes;
  if (takes.length === 1) return () => take;
  let turn = -1;
  return () => takes[(turn = (turn + 1) % takes.length)];
}

function setter(name, value) {
  // Without `async`, which would cost a promise more.
  return (assembly, context, next) => {
    assembly.variables[name] = value;
    return next();
  };
}

function addScope(ctx, set) {
  const key = {};
  const scope = createScope(ctx, key);
  const prompt = scope.ctx.systemPrompt;
  prompt.section({ name: "agent", order: 1.5, text: "Agent {{agent}}." });
  prompt.context({ name: "agent", order: 1.5, text: () => "Agent {{agent}} is here." });
  prompt.variable("agent", () => "one");
  scope.ctx.on("system-prompt/assemble", setter("agent", set));
  return key;
}

async function host({ work, scopes, guard: isGuarded }) {
  const ctx = new Context();
  await ctx.plugin(InvariantRegistry, {});
  await ctx.plugin(SystemPrompt, { includeHarnessIdentity: false });
  if (isGuarded) await ctx.plugin(guard);
  const prompt = ctx.systemPrompt;
  for (const [name, value] of Object.entries(work.variables)) prompt.variable(name, () => value);
  work.sections.forEach(({ takes, isStatic }, index) => {
    const text = isStatic ? takes[0] : provider(takes);
    prompt.section({ name: `section-${index + 1}`, order: index + 1, text });
  });
  work.contexts.forEach(({ takes }, index) => {
    prompt.context({ name: `context-${index + 1}`, order: index + 1, text: provider(takes) });
  });
  prompt.tools(() => ({ schemas: work.tools }));
  for (const name of work.listeners) ctx.on("system-prompt/assemble", setter(name, work.set));
  const keys = [];
  await ctx.plugin({
    name: "agents",
    inject: ["systemPrompt"],
    apply(agents) {
      for (let made = 0; made < scopes; made += 1) keys.push(addScope(agents, work.set));
    },
  });
  return { prompt, keys, context: scopes === 0 ? {} : { scope: keys[0] } };
}

async function run({ prompt, context }) {
  const assembly = await prompt.assemble(context);
  return { prompt: renderPrompt(assembly), snapshot: renderContextSnapshot(assembly) };
}

async function measure(current, iterations) {
  const start = process.hrtime.bigint();
  for (let iteration = 0; iteration < iterations; iteration += 1) await run(current);
  return Number(process.hrtime.bigint() - start);
}

async function warmUp(current) {
  for (let done = 0, spent = 0; done < LEAST_WARM_UP || spent < WARM_UP_NANOSECONDS; done += 5) {
    spent += await measure(current, 5);
  }
}

let current;

async function answer(request) {
  if (request.work !== undefined) {
    current = undefined;
    const made = await host(request);
    const output = await run(made);
    await warmUp(made);
    current = made;
    return output;
  }
  return { nanoseconds: (await measure(current, request.iterations)) / request.iterations };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`);
}
