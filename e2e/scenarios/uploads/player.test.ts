/** Videos in Chromium: a player loads `GET /v1/videos/{id}/content` by ranges, and seeks in it (RFC 9110 §14). */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { describeInChromium, launchChromium } from '../../stack/clients/chromium.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';

const VIDEO = fileURLToPath(new URL('../../../local/demo/bridge.mp4', import.meta.url));

describeInChromium('a video in Chromium', () => {
  let stack: LeasedStack;
  let browser: Browser;
  beforeAll(async () => {
    [stack, browser] = await Promise.all([leaseStack(), launchChromium()]);
  });
  afterAll(async () => {
    await Promise.all([browser.close(), stack.stop()]);
  });

  it('plays, and seeks by a range', async () => {
    const { token } = await stack.createAccount('Ada');
    const uploaded = await fetch(`${stack.rest}/v1/videos?title=Bridge`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'video/mp4' },
      body: await readFile(VIDEO),
    });
    const { id } = (await uploaded.json()) as { id: string };
    await stack.sql('content', `UPDATE videos SET status = 'PUBLISHED' WHERE id = $1`, [id]);
    // The page is of the same origin, which other origins may not embed; its own policy allows no media.
    const page = await browser.newPage({ bypassCSP: true });
    const loaded: [string | undefined, number, string | undefined][] = [];
    page.on('response', (response) => {
      if (!response.url().endsWith('/content')) return;
      const { range } = response.request().headers();
      loaded.push([range, response.status(), response.headers()['content-range']]);
    });
    await page.goto(`${stack.rest}/v1/videos/${id}`);
    await page.setContent(`<video muted preload="auto" src="${stack.rest}/v1/videos/${id}/content"></video>`);
    const found = await page.evaluate<{ duration: number; soughtTo: number; playedTo: number }>(`new Promise((resolve, reject) => {
      const video = document.querySelector('video');
      const seek = () => {
        const target = video.duration / 2;
        video.addEventListener('seeked', async () => {
          const soughtTo = video.currentTime;
          video.addEventListener('timeupdate', () => {
            if (video.currentTime > soughtTo) resolve({ duration: video.duration, soughtTo, playedTo: video.currentTime });
          });
          await video.play().catch(reject);
        }, { once: true });
        video.currentTime = target;
      };
      video.addEventListener('error', () => reject(new Error(video.error.message)));
      if (video.readyState > 0) seek(); else video.addEventListener('loadedmetadata', seek, { once: true });
    })`);
    expect(found.duration).toBeGreaterThan(0);
    expect(found.soughtTo).toBeCloseTo(found.duration / 2, 1);
    expect(found.playedTo).toBeGreaterThan(found.soughtTo);
    const size = (await readFile(VIDEO)).length;
    expect(loaded[0]).toEqual(['bytes=0-', 206, `bytes 0-${String(size - 1)}/${String(size)}`]);
  });
});
