// Reads and writes the little of the zip format that Python's standard library needs.
import zlib from "node:zlib";

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const DEFLATED = 8;
const DATE_1980 = 0x21;

/** Yield `[name, contents]` of each file in the zip archive `archive`. */
export function* readZip(archive) {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    const nameLength = archive.readUInt16LE(at + 28);
    const name = archive.toString("utf8", at + 46, at + 46 + nameLength);
    const local = archive.readUInt32LE(at + 42);
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const stored = archive.subarray(start, start + archive.readUInt32LE(at + 20));
    const deflated = archive.readUInt16LE(at + 10) === DEFLATED;
    if (!name.endsWith("/")) yield [name, deflated ? zlib.inflateRawSync(stored) : stored];
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
}

/** Return a zip archive of `[name, contents]` entries, uncompressed: reading it costs nothing. */
export function storeZip(entries) {
  const parts = [];
  const central = [];
  let offset = 0;
  for (const [name, contents] of entries) {
    const path = Buffer.from(name);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0); // version that can read it
    common.writeUInt16LE(DATE_1980, 8);
    common.writeUInt32LE(zlib.crc32(contents), 10);
    common.writeUInt32LE(contents.length, 14);
    common.writeUInt32LE(contents.length, 18);
    common.writeUInt16LE(path.length, 22);
    parts.push(signature(LOCAL), common, path, contents);

    const madeBy = Buffer.from([20, 0]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    central.push(signature(CENTRAL), madeBy, common, rest, path);
    offset += 30 + path.length + contents.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, directory, signature(END), end]);
}

function signature(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
