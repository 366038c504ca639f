/** The upstream server of every measured server: returns the recorded response of the real gateway to each document. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const answers = new Map(
  Object.entries(JSON.parse(readFileSync(process.env.ANSWERS_FILE, 'utf8'))).map(([query, text]) => [query, Buffer.from(text)]),
);

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const { query } = request.method === 'POST' ? JSON.parse(Buffer.concat(chunks).toString()) : { query: '' };
    const bytes = answers.get(query) ?? Buffer.from('{}');
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length }).end(bytes);
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
