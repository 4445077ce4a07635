// What the browser runs when something happens: all listeners are set at once, so that they wake this worker.

import * as menus from './menus.js';
import * as requests from './requests.js';
import * as takeover from './takeover.js';

requests.watch();
takeover.watch();
menus.watch();
