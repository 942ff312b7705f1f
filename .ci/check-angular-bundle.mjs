// What Angular's builder makes for browsers: of the example, which `ng build --stats-json` has built before, and of the one
// use that the other bundlers are given. The builder is that of examples/angular.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from './bundlers.mjs';
import { fromRoot, main, readJson, run } from './lib.mjs';

const example = fromRoot('examples', 'angular');
// Below the example, so that its packages are found from there.
const project = join(example, 'dist', 'one-use');

await main(async () => {
  inspect('the example of Angular, RxJS and Angular included', bundleIn(join(example, 'dist')));

  const options = { browser: 'main.ts', tsConfig: 'tsconfig.json', outputPath: 'dist', externalDependencies: ['rxjs'] };
  const build = { builder: '@angular/build:application', options: { ...options, index: false, statsJson: true } };
  const workspace = { cli: { analytics: false, cache: { enabled: false } }, projects: {} };
  workspace.projects.use = { projectType: 'application', root: '', architect: { build } };
  rmSync(project, { recursive: true, force: true });
  mkdirSync(project);
  writeFileSync(join(project, 'angular.json'), JSON.stringify({ version: 1, ...workspace }));
  writeFileSync(join(project, 'tsconfig.json'), '{ "extends": "../../tsconfig.json", "files": ["main.ts"] }');
  cpSync(fromRoot('.ci', 'smoke', 'browser.mjs'), join(project, 'main.ts'));
  await run(process.execPath, [join(example, 'node_modules', '@angular', 'cli', 'bin', 'ng.js'), 'build'], {
    cwd: project,
    env: { ...process.env, NG_CLI_ANALYTICS: 'false' },
  });
  inspect("one use, Angular's builder", bundleIn(join(project, 'dist')));
});

function bundleIn(folder) {
  const scripts = readdirSync(join(folder, 'browser')).filter((name) => name.endsWith('.js'));
  return {
    modules: Object.keys(readJson(join(folder, 'stats.json')).inputs),
    code: scripts.map((name) => readFileSync(join(folder, 'browser', name), 'utf8')).join('\n'),
  };
}
