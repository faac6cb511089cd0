// What workerd prints goes to standard error; a start that fails says why in a few lines.

/** The first message of workerd when the import of the main module raised. */
const IMPORT_FAILURE = /Uncaught \w*Error: PythonError: ([^]*?)\n\n {2}at /;

export class Log {
  #early = [];

  write(message) {
    if (this.#early === null) console.error(message);
    else this.#early.push(message);
  }

  /** Print what came up to now, and from here on everything as it comes. */
  live() {
    const early = this.#early;
    this.#early = null;
    for (const message of early) console.error(message);
  }

  /** Throw the error that tells why the Worker does not start. */
  failStart(error) {
    const raised = this.#early.map((message) => IMPORT_FAILURE.exec(message)).find(Boolean);
    if (raised) throw new StartFailure(`the Worker's main module does not import:\n${raised[1]}`);
    this.live();
    throw error;
  }
}

/** A start that fails by the project's own doing: the message says all there is to say. */
export class StartFailure extends Error {}
