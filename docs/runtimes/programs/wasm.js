const { readFileSync } = require("fs");
const module_ = new WebAssembly.Module(readFileSync("wasm.wasm"));
const { countPrimes } = new WebAssembly.Instance(module_).exports;
console.log(countPrimes(2000000));
