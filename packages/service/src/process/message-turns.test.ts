import { EventEmitter } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect, it, jest } from '@jest/globals';
import type { WebSocket } from 'ws';
import { MessageTurns } from './message-turns.ts';

const LARGE = 20_000;

class FakeSocket extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  readonly pause = jest.fn();
}

function create() {
  const turns = new MessageTurns();
  const handled: string[] = [];
  const open = (name: string) => {
    const socket = new FakeSocket();
    const resume = jest.fn();
    turns.serve(socket as unknown as WebSocket, { handle: (data) => handled.push(`${name}${String(data.length)}`), resume });
    const send = (...lengths: number[]) => {
      for (const length of lengths) socket.emit('message', Buffer.alloc(length));
    };
    return { socket, resume, send };
  };
  return { handled, open };
}

it('handles short messages at once', () => {
  const { handled, open } = create();
  const { send, socket } = open('a');
  send(10, 20);
  expect(handled).toEqual(['a10', 'a20']);
  expect(socket.pause).not.toHaveBeenCalled();
});

it('handles one large message of all sockets in each iteration of the event loop', async () => {
  const { handled, open } = create();
  const sockets = [open('a'), open('b'), open('c')];
  for (const { send } of sockets) send(LARGE);
  expect(handled).toEqual([]);
  for (const [index, { resume }] of sockets.entries()) {
    expect(resume).not.toHaveBeenCalled();
    while (handled.length === index) await setImmediate();
    expect(handled).toHaveLength(index + 1);
    expect(resume).toHaveBeenCalledTimes(1);
  }
  expect(handled).toEqual([`a${String(LARGE)}`, `b${String(LARGE)}`, `c${String(LARGE)}`]);
});

it('keeps the order of the messages of a socket, which it does not read meanwhile', async () => {
  const { handled, open } = create();
  const { socket, send, resume } = open('a');
  send(10, LARGE, 20, 30);
  expect(handled).toEqual(['a10']);
  expect(socket.pause).toHaveBeenCalled();
  while (handled.length < 4) await setImmediate();
  expect(handled).toEqual(['a10', `a${String(LARGE)}`, 'a20', 'a30']);
  expect(resume).toHaveBeenCalledTimes(1);
});

it('does not handle what waits for a socket that was closed', async () => {
  const { handled, open } = create();
  const [closed, other] = [open('a'), open('b')];
  closed.send(LARGE);
  closed.socket.readyState = 3;
  other.send(LARGE);
  while (handled.length === 0) await setImmediate();
  expect(handled).toEqual([`b${String(LARGE)}`]);
});
