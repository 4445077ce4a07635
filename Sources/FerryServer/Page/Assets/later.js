// The entry of the second script: what the page shows at a request, with its sentences. See `parts.js`.

import { learn } from './text.js';
import { detailSentences } from './detailsentences.js';
import { dialogSentences } from './dialogsentences.js';
import { fieldSentences } from './fieldsentences.js';
import { AddOptions } from './options.js';
import { Detail } from './detail.js';
import { rowMenu } from './rowmenu.js';
import { showBrowsers } from './browsers.js';
import { showKeys } from './keyhelp.js';
import { showSettings } from './settings.js';

for (const sentences of [detailSentences, dialogSentences, fieldSentences]) learn(sentences);

export const parts = { AddOptions, Detail, rowMenu, showBrowsers, showKeys, showSettings };
