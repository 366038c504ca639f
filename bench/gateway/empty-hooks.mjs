/** An extension with every hook, each of which does nothing: what remains is the cost of calling them. */
const hooks = [
  ...['onRequest', 'onContext', 'onOperation', 'onPlan', 'onSubscribe', 'onSubgraphRequest', 'onSubgraphResponse', 'onResponse', 'onEvent'],
];

export default { name: 'empty', ...Object.fromEntries(hooks.map((hook) => [hook, () => undefined])) };
