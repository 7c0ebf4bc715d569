// Runs truth.mjs in workerd. Its clocks stand still while a worker computes: each call of this one
// counts as a tenth of a millisecond.
let time = 0;
globalThis.performance = { now: () => time += 0.1 };
globalThis.setTimeout = (f) => f();

export default {
  async test(controller, env) {
    globalThis.process = { argv: ['', '', env.MILLISECONDS] };
    await import('truth.mjs');
  },
};
