// For Jest, which runs the tests as CommonJS: makes a dependency's ES module into one.
const { transformSync } = require('esbuild');

module.exports = {
  process: (source, path) => ({
    code: transformSync(source, { format: 'cjs', target: 'es2022', sourcefile: path }).code,
  }),
};
