// Checks JSON files against speedscope's schema:  node schema.cjs FOLDER FILE...
// Prints one JSON document a file: the list of what is wrong.
'use strict';
const fs = require('fs');
const path = require('path');
const [folder, ...files] = process.argv.slice(2);
const Ajv = require(path.join(folder, 'node_modules/ajv')).default;
const schema = JSON.parse(fs.readFileSync(path.join(folder, 'node_modules/speedscope/dist/release/file-format-schema.json')));
const validate = new Ajv({strict: false, allErrors: false}).compile(schema);
for (const file of files) {
  validate(JSON.parse(fs.readFileSync(file)));
  console.log(JSON.stringify(validate.errors || []));
}
