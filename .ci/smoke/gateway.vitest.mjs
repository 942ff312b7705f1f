import * as library from 'rx-llm';
import * as gatewayLibrary from 'rx-llm/gateway';
import * as rxjs from 'rxjs';
import * as runner from 'vitest';
import requests from './gateway-requests.cjs';

requests({ runner, library, gatewayLibrary, rxjs });
