/** Small video files, made box by box. */

/** Returns an MP4 file of this duration, with its header behind the frames, as cameras write it (ISO 14496-12). */
export function toMp4(seconds: number, frameBytes = 400_000): Buffer {
  const header = Buffer.alloc(100);
  header.writeUInt32BE(1000, 12);
  header.writeUInt32BE(seconds * 1000, 16);
  const brand = Buffer.from('isom\u0000\u0000\u0002\u0000isomiso2mp41', 'latin1');
  return Buffer.concat([toBox('ftyp', brand), toBox('mdat', Buffer.alloc(frameBytes)), toBox('moov', toBox('mvhd', header))]);
}

function toBox(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
}
