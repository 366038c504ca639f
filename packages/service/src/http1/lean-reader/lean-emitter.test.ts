import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { LeanEmitter } from './lean-emitter.ts';

/** Adds, removes and emits, and returns what was called in which order. */
function run(emitter: EventEmitter | LeanEmitter): string[] {
  const calls: string[] = [];
  const push = (text: string) => () => {
    calls.push(text);
  };
  const twice = push('twice');
  const gone = push('gone');
  emitter.on('end', push('first')).on('end', twice).on('end', twice).off('end', twice).on('end', gone);
  emitter.once('end', () => {
    calls.push('once');
    emitter.on('end', push('added meanwhile'));
  });
  emitter.prependOnceListener('end', push('before all'));
  emitter.once('end', gone).off('end', gone);
  calls.push(String(emitter.emit('other')), String(emitter.listenerCount('end')), String(emitter.emit('end')), String(emitter.emit('end')));
  emitter.on('data', (value: string) => calls.push(value));
  emitter.emit('data', 'value');
  emitter.removeAllListeners();
  calls.push(String(emitter.emit('end')), String(emitter.listenerCount('data')));
  return calls;
}

describe('LeanEmitter', () => {
  it('calls the same listeners in the same order as an EventEmitter of Node.js', () => {
    expect(run(new LeanEmitter())).toEqual(run(new EventEmitter()));
  });
});
