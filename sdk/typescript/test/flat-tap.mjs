/** A reporter for node:test: one line of TAP per test, none for the enclosing file or suite. */
export default async function* flatTap(events) {
  let count = 0;
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.details?.type === 'suite') continue;
    const { skip = false } = data;
    const skipped = skip === false ? '' : ` # SKIP ${skip === true ? 'not here' : skip}`;
    if (type === 'test:fail') yield comment(data.details.error);
    yield `${type === 'test:pass' ? 'ok' : 'not ok'} ${++count} - ${data.name.replaceAll('#', '')}${skipped}\n`;
  }
  yield `1..${count}\n`;
}

function comment(error) {
  const cause = error?.cause ?? error;
  const text = cause?.stack ?? String(cause);
  return text.replace(/^/gm, '# ') + '\n';
}
