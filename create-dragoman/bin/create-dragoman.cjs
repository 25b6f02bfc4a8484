#!/usr/bin/env node
// `npm create dragoman my-agent` is `dragoman init my-agent`.
"use strict";

process.argv.splice(2, 0, "init");
require(require("path").join(require.resolve("dragoman/package.json"), "..", "bin", "dragoman.cjs"));
