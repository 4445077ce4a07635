// Adds links of a page, in messages that are not too long.

import { ask } from './host.js';
import { linkOf } from './requests.js';

const MOST = 500;
const MOST_LETTERS = 600_000;

/// Adds the addresses; all of a message, or none of it. Gives the downloads.
export async function add(urls, place) {
  const downloads = [];
  let batch = [];
  let letters = 0;
  const send = async () => {
    if (batch.length > 0) downloads.push(...(await ask('add', { downloads: batch })).downloads);
    [batch, letters] = [[], 0];
  };
  for (const url of new Set(urls)) {
    const link = await linkOf(url, place);
    const length = JSON.stringify(link).length;
    if (batch.length === MOST || letters + length > MOST_LETTERS) await send();
    batch.push(link);
    letters += length;
  }
  await send();
  return downloads;
}
