// A loopback HTTP/1.1 server on raw sockets, in a process of its own. What it answers stands in the path:
// /s/KIND.N.WRITE.COUNT.MODE/… where WRITE is the bytes of one write, 1 for one frame a write.
//
// - flood: the whole stream as fast as the socket takes it; `info`: what a flood holds, as JSON
// - first: a short stream whose first delta carries the time at which it was written
// - slow: waits for COUNT streams, then each gets a delta every 20 ms, each with its time
// - hold: one delta, then nothing until the client leaves
import net from 'node:net';
import { streamOf, texts } from './frames.mjs';

const HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\nx-request-id: req_1\r\n\r\n';
const END = '0\r\n\r\n';
const INTERVAL_MS = 20;

const chunked = (bytes) => Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
const send = (socket, frame) => socket.write(chunked(Buffer.from(frame)));
const stamped = (kind, received, i) => texts[kind].delta(`T${received},${process.hrtime.bigint()};`, i);

/** Floods that were asked for before; a suite asks for the same ones again and again. */
const floods = new Map();
function flood(kind, n, write) {
  const key = `${kind}.${n}.${write}`;
  let found = floods.get(key);
  if (!found) {
    if (floods.size > 4) floods.clear();
    const { frames, chars } = streamOf(kind, n);
    const whole = frames.map((frame) => Buffer.from(frame));
    const bytes = whole.reduce((sum, frame) => sum + frame.length, 0);
    let writes = whole;
    if (write > 1) {
      const all = Buffer.concat(whole);
      writes = [];
      for (let i = 0; i < all.length; i += write) writes.push(all.subarray(i, i + write));
    }
    floods.set(key, (found = { writes: writes.map(chunked), info: { chars, frames: frames.length, bytes } }));
  }
  return found;
}

async function pour(socket, writes) {
  for (const bytes of writes) {
    if (socket.destroyed) return;
    if (socket.write(bytes)) continue;
    await new Promise((resolve) => {
      const go = () => {
        socket.off('drain', go).off('close', go);
        resolve();
      };
      socket.on('drain', go).on('close', go);
    });
  }
  socket.write(END);
}

const waiting = new Map();
const running = new Set();
function tick() {
  const now = performance.now();
  for (const stream of running) {
    for (; stream.sent < stream.n && now >= stream.next; stream.next += INTERVAL_MS)
      send(stream.socket, stamped(stream.kind, stream.received, stream.sent++));
    if (stream.sent < stream.n) continue;
    running.delete(stream);
    for (const frame of texts[stream.kind].tail('x', stream.n)) send(stream.socket, frame);
    stream.socket.write(END);
  }
  if (running.size) setTimeout(tick, 1);
}

function startTogether(spec, count, stream) {
  const together = [...(waiting.get(spec) ?? []), stream];
  waiting.set(spec, together);
  if (together.length < count) return;
  waiting.delete(spec);
  const start = performance.now() + 50;
  for (const [k, each] of together.entries())
    running.add(Object.assign(each, { next: start + (INTERVAL_MS * k) / count }));
  tick();
}

async function answer(socket, path) {
  const received = process.hrtime.bigint();
  const spec = path.split('/')[2] ?? '';
  const [kind, n, write, count, mode] = spec.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  if (mode === 'info') {
    const body = JSON.stringify(flood(kind, n, write).info);
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    return;
  }
  socket.write(HEAD);
  if (mode === 'flood') return pour(socket, flood(kind, n, write).writes);
  for (const frame of texts[kind].head()) send(socket, frame);
  if (mode === 'slow') startTogether(spec, count, { socket, kind, n, received, sent: 0 });
  else if (mode === 'hold') send(socket, texts[kind].delta(' word', 0));
  else {
    await new Promise((resolve) => setTimeout(resolve, 4));
    for (let i = 0; i < n; i++) send(socket, i === 0 ? stamped(kind, received, i) : texts[kind].delta(' word', i));
    for (const frame of texts[kind].tail('x', n)) send(socket, frame);
    socket.write(END);
  }
}

const server = net.createServer({ noDelay: true, highWaterMark: 1 << 20 }, (socket) => {
  let request = '';
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    request += bytes.toString('latin1');
    const head = request.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = /content-length: (\d+)/i.exec(request.slice(0, head));
    if (length && request.length < head + 4 + Number(length[1])) return;
    if (/transfer-encoding: chunked/i.test(request.slice(0, head)) && !request.endsWith(END)) return;
    const path = request.split(' ', 2)[1];
    request = '';
    void answer(socket, path);
  });
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 }, () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit());
