import * as rxjs from 'rxjs';
import * as rxLlm from 'rx-llm';
import { program } from './program.js';

await program({ rxLlm, rxjs });
