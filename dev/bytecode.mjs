// Compiles Python to bytecode with Pyodide itself, and keeps the result by content: a start compiles
// only what changed. Pyodide runs in Node here, and only when there is something to compile.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { loadPyodide, version } from "pyodide";

const COMPILE = `
import importlib._bootstrap_external as external
from importlib.util import source_hash

def compile_source(path, source):
    code = compile(source.to_bytes(), path, "exec", dont_inherit=True)
    # "Unchecked": nothing is compared with the source when the module is imported.
    return external._code_to_hash_pyc(code, source_hash(source.to_bytes()), False)

compile_source
`;

/** A store of compiled modules in the folder `folder`. */
export class BytecodeCache {
  #compile;

  constructor(folder) {
    this.folder = path.join(folder, `bytecode-${version}`);
    this.standardLibrary = path.join(this.folder, "stdlib.zip");
  }

  /** Return the bytecode of Python `source`, which will lie at `file`, or null if it has errors. */
  async bytecode(file, source) {
    const key = createHash("sha256").update(file).update("\0").update(source).digest("hex");
    const cached = path.join(this.folder, key.slice(0, 2), key.slice(2));
    if (!fs.existsSync(cached)) writeWhole(cached, await this.#compileOne(file, source));
    const bytecode = fs.readFileSync(cached);
    return bytecode.length > 0 ? bytecode : null;
  }

  /** Pyodide boots twice as fast from its compiled standard library, once that is made. */
  #bootOptions() {
    return fs.existsSync(this.standardLibrary) ? { stdLibURL: this.standardLibrary } : {};
  }

  async #compileOne(file, source) {
    this.#compile ??= (await loadPyodide(this.#bootOptions())).runPython(COMPILE);
    try {
      const result = this.#compile(file, new Uint8Array(source));
      const bytes = Buffer.from(result.toJs());
      result.destroy();
      return bytes;
    } catch (error) {
      if (error.type !== "SyntaxError") throw error;
      return Buffer.alloc(0); // The import will say what is wrong, and where.
    }
  }
}

/** Write a file so that another process sees all of it or nothing. */
export function writeWhole(file, contents) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const partial = `${file}.${process.pid}`;
  fs.writeFileSync(partial, contents);
  fs.renameSync(partial, file);
}
